#include "interop/ctranslate2_bin.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "interop/byte_reader.h"
#include "tensor/bfloat16.h"
#include "tensor/float16.h"

namespace dragoman {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint32_t oldest = 4, newest = 6;  // before 4, variables have no type

// The length includes the terminating 0.
std::string text(ByteReader& in) {
  const auto bytes = in.take(in.number<uint16_t>());
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.c_str();
}

DType type_of(uint8_t id, const std::string& path, const std::string& name) {
  switch (id) {
    case 0:
      return DType::f32;
    case 1:
      return DType::i8;
    case 3:
      return DType::i32;
    case 4:
      return DType::f16;
    case 5:
      return DType::bf16;
    default:
      break;
  }
  throw Error(fmt::format("{}: variable {} has CTranslate2's type {}, which dragoman does not support", path, name, id),
              "convert the model again with --quantization float32, float16, bfloat16 or int8");
}

struct Variable {
  std::string name;
  std::vector<int64_t> shape;
  uint8_t type;
  std::span<const std::byte> data;
};

Variable variable(ByteReader& in, const std::string& path) {
  Variable v{.name = text(in)};
  const auto rank = in.number<uint8_t>();
  for (int d = 0; d < rank; ++d) v.shape.push_back(in.number<uint32_t>());
  v.type = in.number<uint8_t>();
  v.data = in.take(in.number<uint32_t>());
  const uint64_t size = v.type == 2 ? 2 : uint64_t(size_of(type_of(v.type, path, v.name)));
  require(uint64_t(elements_of(v.shape, path, v.name)) * size == v.data.size(),
          "{}: variable {} is ({}) and has {} bytes", path, v.name, fmt::join(v.shape, ","), v.data.size());
  return v;
}

template <class T>
double number_of(const Variable& v) {
  T value;
  std::memcpy(&value, v.data.data(), sizeof(T));
  return double(float(value));
}

double number_of(const Variable& v, const std::string& path) {
  constexpr uint8_t int16 = 2;
  if (v.type == int16) return number_of<int16_t>(v);
  switch (type_of(v.type, path, v.name)) {
    case DType::f32:
      return number_of<float>(v);
    case DType::i8:
      return number_of<int8_t>(v);
    case DType::i32:
      return number_of<int32_t>(v);
    case DType::f16:
      return number_of<float16>(v);
    case DType::bf16:
      return number_of<bfloat16>(v);
    default:
      break;
  }
  fail("{}: variable {} is not a number", path, v.name);
}

ForeignTensor tensor_of(const std::shared_ptr<const void>& owner, const Variable& v, const std::string& path) {
  return {.name = v.name, .dtype = type_of(v.type, path, v.name), .shape = v.shape, .read = [owner, data = v.data] {
            return Bytes(data.begin(), data.end());
          }};
}

// weight = integer / divisor of its row; the divisors are a separate variable.
void add_scales(ForeignTensor& weight, const ForeignTensor& divisors, const std::string& path) {
  require(divisors.dtype == DType::f32 && divisors.shape == std::vector<int64_t>{weight.shape[0]},
          "{}: {} is ({}) of {}, expected float32 for {} rows", path, divisors.name, fmt::join(divisors.shape, ","),
          divisors.dtype, weight.shape[0]);
  weight.row_scales = [read = divisors.read, name = divisors.name, path] {
    const Bytes bytes = read();
    std::vector<float> scales(bytes.size() / sizeof(float));
    std::memcpy(scales.data(), bytes.data(), bytes.size());
    for (float& s : scales) {
      s = 1 / s;
      require(std::isfinite(s) && s > 0, "{}: {} contains a number that is not above 0", path, name);
    }
    return scales;
  };
}

void join_scales(std::vector<ForeignTensor>& tensors, const std::string& path) {
  std::map<std::string, ForeignTensor> divisors;
  std::erase_if(tensors, [&](const ForeignTensor& t) {
    return t.name.ends_with("_scale") && divisors.emplace(t.name, t).second;
  });
  for (ForeignTensor& t : tensors) {
    if (t.dtype != DType::i8 || t.shape.size() != 2) continue;
    const auto found = divisors.find(t.name + "_scale");
    require(found != divisors.end(), "{}: {} is in 8 bits, but there is no {}_scale", path, t.name, t.name);
    add_scales(t, found->second, path);
  }
}

}  // namespace

bool is_ctranslate2_bin(const FileBytes& file) {
  if (file.bytes.size() < 8) return false;
  uint32_t version = 0;
  uint16_t length = 0;
  std::memcpy(&version, file.bytes.data(), 4);
  std::memcpy(&length, file.bytes.data() + 4, 2);
  if (version < 2 || version > newest || length < 2 || file.bytes.size() < 6u + length) return false;
  const std::string_view spec(reinterpret_cast<const char*>(file.bytes.data()) + 6, length - 1);
  return spec.ends_with("Spec") || spec.starts_with("Transformer");
}

CTranslate2Bin read_ctranslate2_bin(const FileBytes& file, const std::string& path) {
  ByteReader in(file.bytes, path);
  const auto version = in.number<uint32_t>();
  if (version < oldest || version > newest)
    throw Error(
        fmt::format("{} has version {} of CTranslate2's format, expected {} to {}", path, version, oldest, newest),
        "convert the model again with a current CTranslate2");
  CTranslate2Bin bin{.path = path, .version = version, .spec = text(in)};
  in.number<uint32_t>();  // revision
  const auto count = in.number<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    const Variable v = variable(in, path);
    if (v.shape.empty()) {
      bin.numbers[v.name] = number_of(v, path);
      if (v.type == 1) bin.flags.insert(v.name);
    } else if (version < 6 && v.shape.size() == 1 && v.name.ends_with("_token")) {
      bin.texts[v.name].assign(reinterpret_cast<const char*>(v.data.data()), v.data.size());
    } else {
      bin.tensors.push_back(tensor_of(file.owner, v, path));
    }
  }
  const auto aliases = in.number<uint32_t>();
  for (uint32_t i = 0; i < aliases; ++i) {
    const std::string alias = text(in);
    bin.aliases[alias] = text(in);
  }
  join_scales(bin.tensors, path);
  for (const auto& [alias, of] : bin.aliases)
    if (const auto number = bin.numbers.find(of); number != bin.numbers.end()) {
      bin.numbers[alias] = number->second;
      if (bin.flags.contains(of)) bin.flags.insert(alias);
    }
  return bin;
}

}  // namespace dragoman
