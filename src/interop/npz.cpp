#include "interop/npz.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "interop/marian_names.h"
#include "interop/zip.h"

namespace dragoman {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::string_view npy_magic = "\x93NUMPY";

// '<' is little-endian; programs write any byte order for single bytes.
std::optional<DType> npy_type(std::string_view name) {
  static constexpr std::pair<std::string_view, DType> types[] = {
      {"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16}, {"i8", DType::i64},
      {"i4", DType::i32}, {"i1", DType::i8},  {"u1", DType::u8},  {"b1", DType::u8}};
  if (name.size() != 3 || (name[0] != '<' && !name.ends_with('1'))) return std::nullopt;
  for (const auto& [known, type] : types)
    if (known == name.substr(1)) return type;
  return std::nullopt;
}

/// The header of an array: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
struct NpyHeader {
  std::string type;
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// Parses a Python dictionary in the only form that NumPy writes.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  NpyHeader read() {
    NpyHeader header;
    expect('{');
    while (!next_is('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        header.type = quoted();
      else if (key == "fortran_order")
        header.fortran = word() == "True";
      else if (key == "shape")
        header.shape = tuple();
      else
        complain();
      if (!next_is('}')) expect(',');
    }
    return header;
  }

 private:
  [[noreturn]] void complain() const { fail("{}: the header of the array is damaged", where_); }
  void skip_blanks() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool next_is(char c) {
    skip_blanks();
    return !text_.empty() && text_[0] == c;
  }
  void expect(char c) {
    if (!next_is(c)) complain();
    text_.remove_prefix(1);
  }
  std::string quoted() {
    expect('\'');
    const size_t end = text_.find('\'');
    if (end == text_.npos) complain();
    std::string inside(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return inside;
  }
  std::string word() {
    skip_blanks();
    const size_t end = std::min(text_.find_first_of(",} "), text_.size());
    std::string inside(text_.substr(0, end));
    text_.remove_prefix(end);
    return inside;
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> numbers;
    expect('(');
    while (!next_is(')')) {
      int64_t number = 0;
      const auto [end, problem] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
      if (problem != std::errc()) complain();
      text_.remove_prefix(size_t(end - text_.data()));
      numbers.push_back(number);
      if (!next_is(')')) expect(',');
    }
    expect(')');
    return numbers;
  }

  std::string_view text_;
  const std::string where_;
};

// From Fortran order, in which the last index varies slowest, to C order, in which it varies fastest.
Bytes from_fortran(const Bytes& stored, const std::vector<int64_t>& shape, int64_t size) {
  Bytes result(stored.size());
  std::vector<int64_t> index(shape.size(), 0);
  const int64_t count = int64_t(stored.size()) / size;
  for (int64_t to = 0; to < count; ++to) {
    int64_t from = 0;
    for (size_t d = shape.size(); d-- > 0;) from = from * shape[d] + index[d];
    std::memcpy(result.data() + to * size, stored.data() + from * size, size_t(size));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

ForeignTensor read_array(const ZipFile& zip, const ZipFile::Entry& entry) {
  const std::string where = fmt::format("{}: {}", zip.path(), entry.name);
  constexpr uint64_t first_part = 1 << 16;
  const Bytes begin = zip.read(entry.name, first_part);
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  require(text.size() >= 12 && text.starts_with(npy_magic), "{} is not a NumPy array", where);
  const auto version = uint8_t(text[6]);
  require(version >= 1 && version <= 3, "{} is of NumPy's format {}, expected 1 to 3", where, version);
  const size_t length_bytes = version == 1 ? 2 : 4;
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, length_bytes);
  const size_t data = 8 + length_bytes + length;
  require(data <= text.size(), "{}: the header of the array is damaged", where);
  const NpyHeader header = NpyHeaderReader(text.substr(8 + length_bytes, length), where).read();
  const std::optional<DType> type = npy_type(header.type);
  require(type.has_value(), "{} has elements of type {}, expected f2, f4, f8, i1, i4, i8 or u1, little-endian", where,
          header.type);
  const int64_t size = size_of(*type), count = elements_of(header.shape, zip.path(), entry.name);
  require(uint64_t(count) * uint64_t(size) + data == entry.bytes, "{} has {} bytes, expected {} for ({}) of {}", where,
          entry.bytes, uint64_t(count) * uint64_t(size) + data, fmt::join(header.shape, ","), *type);
  return {.name = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name,
          .dtype = *type,
          .shape = header.shape,
          .read = [zip, name = entry.name, data, header, size] {
            Bytes all = name.starts_with(marian_options_tensor) ? zip.read_to_parse(name) : zip.read(name);
            all.erase(all.begin(), all.begin() + int64_t(data));
            return header.fortran && header.shape.size() > 1 ? from_fortran(all, header.shape, size) : all;
          }};
}

}  // namespace

std::vector<ForeignTensor> read_npz(const std::string& path) {
  const ZipFile zip(path);
  require(!zip.entries().empty(), "{} contains no arrays, or is a truncated archive", path);
  std::vector<ForeignTensor> tensors;
  for (const ZipFile::Entry& entry : zip.entries()) tensors.push_back(read_array(zip, entry));
  return tensors;
}

}  // namespace dragoman
