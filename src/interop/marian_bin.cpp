#include "interop/marian_bin.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "interop/byte_reader.h"

namespace dragoman {
namespace {

using Bytes = std::vector<std::byte>;

struct ItemHeader {
  uint64_t name_length, type, rank, bytes;
};

struct Stored {
  ItemHeader header;
  std::string name;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

std::vector<Stored> parse(std::span<const std::byte> file, const std::string& path) {
  ByteReader in(file, path);
  const auto version = in.number<uint64_t>();
  if (version == 2) throw Error(path + " is an encrypted Marian model", "decrypt it with the program that wrote it");
  require(version == 1, "{} has version {} of Marian's binary format, expected 1", path, version);
  const auto count = in.number<uint64_t>();
  require(count <= in.left() / sizeof(ItemHeader), "{} is damaged: it cannot hold {} tensors", path, count);
  std::vector<Stored> tensors(static_cast<size_t>(count));
  for (Stored& t : tensors) t.header = in.number<ItemHeader>();
  for (Stored& t : tensors) {
    const auto text = in.take(t.header.name_length);
    t.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
    t.name.resize(std::strlen(t.name.c_str()));
  }
  for (Stored& t : tensors) {
    require(t.header.rank <= 8, "{}: tensor {} claims to have {} dimensions", path, t.name, t.header.rank);
    for (uint64_t d = 0; d < t.header.rank; ++d) t.shape.push_back(in.number<int32_t>());
  }
  in.take(in.number<uint64_t>());  // padding
  for (Stored& t : tensors) t.data = in.take(t.header.bytes);
  return tensors;
}

Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

[[noreturn]] void refuse(const std::string& path, const Stored& t) {
  throw Error(fmt::format("{}: tensor {} has Marian's type {:#x}, which is packed for a particular CPU", path, t.name,
                          t.header.type),
              "convert the original model instead: marian-conv -f MODEL.npz -t MODEL.bin --gemm-type intgemm8");
}

// A factor follows the integers: value = integer / factor.
float factor_of(const Stored& t, int64_t bytes, const std::string& path) {
  require(t.data.size() >= size_t(bytes) + sizeof(float), "{}: tensor {} has {} bytes, expected {} and a factor", path,
          t.name, t.data.size(), bytes);
  float factor = 0;
  std::memcpy(&factor, t.data.data() + bytes, sizeof(factor));
  require(std::isfinite(factor) && std::isfinite(1 / factor) && factor > 0,
          "{}: tensor {} has {} as its factor, expected a number above 0", path, t.name, factor);
  return factor;
}

ForeignTensor integers(const std::shared_ptr<const MappedFile>& file, const Stored& t, int64_t count,
                       const std::string& path) {
  const bool narrow = t.header.type == MarianType::intgemm8 || t.header.type == MarianType::intgemm8_of_forks;
  const int64_t bytes = count * (narrow ? 1 : 2);
  ForeignTensor tensor{.name = t.name, .dtype = narrow ? DType::i8 : DType::f32, .shape = t.shape};
  tensor.transposed = !t.name.ends_with("Wemb");  // only matrices of products are transposed
  if (tensor.transposed) std::ranges::reverse(tensor.shape);
  const float factor = factor_of(t, bytes, path);
  const std::span<const std::byte> data = t.data.first(size_t(bytes));
  if (narrow) {
    tensor.scale = 1 / factor;
    tensor.read = [file, data] { return copy_of(data); };
    return tensor;
  }
  tensor.read = [file, data, factor] {
    Bytes values(data.size() * 2);
    for (size_t i = 0; i < data.size() / 2; ++i) {
      int16_t integer = 0;
      std::memcpy(&integer, data.data() + 2 * i, 2);
      const float value = float(integer) / factor;
      std::memcpy(values.data() + 4 * i, &value, 4);
    }
    return values;
  };
  return tensor;
}

ForeignTensor tensor_of(const std::shared_ptr<const MappedFile>& file, const Stored& t, const std::string& path) {
  const int64_t count = elements_of(t.shape, path, t.name);
  const auto plain = [&](DType type) -> ForeignTensor {
    const int64_t bytes = count * size_of(type);
    require(t.data.size() >= size_t(bytes), "{}: tensor {} has {} bytes, expected {} for ({}) of {}", path, t.name,
            t.data.size(), bytes, fmt::join(t.shape, ","), type);
    const std::span<const std::byte> data = t.data.first(size_t(bytes));
    return {.name = t.name, .dtype = type, .shape = t.shape, .read = [file, data] { return copy_of(data); }};
  };
  switch (t.header.type) {
    case MarianType::float32:
      return plain(DType::f32);
    case MarianType::float16:
      return plain(DType::f16);
    case MarianType::int8:
      return plain(DType::i8);
    case MarianType::uint8:
      return plain(DType::u8);
    case MarianType::intgemm8:
    case MarianType::intgemm16:
    case MarianType::intgemm8_of_forks:
    case MarianType::intgemm16_of_forks:
      return integers(file, t, count, path);
    default:
      refuse(path, t);
  }
}

}  // namespace

std::vector<ForeignTensor> read_marian_bin(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  std::vector<ForeignTensor> tensors;
  for (const Stored& t : parse(file->bytes(), path)) tensors.push_back(tensor_of(file, t, path));
  return tensors;
}

}  // namespace dragoman
