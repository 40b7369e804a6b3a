// Protobuf messages, field by field: https://protobuf.dev/programming-guides/encoding.

#include <cstring>
#include <limits>
#include <optional>

#include "tests/fuzz/structure.h"

namespace dragoman {
namespace {

enum WireType : uint64_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct RawField {
  uint64_t id = 0, type = 0, number = 0;
  std::string content;  // of all types but varint
};

size_t below(size_t size, Random& random) { return size_t(random() % size); }

std::optional<uint64_t> take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = uint8_t(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<RawField> take_field(std::string_view& rest) {
  const auto tag = take_varint(rest);
  if (!tag || *tag >> 3 == 0) return std::nullopt;
  RawField field{*tag >> 3, *tag & 7};
  uint64_t size = field.type == fixed64 ? 8 : 4;
  if (field.type == varint || field.type == bytes) {
    const auto number = take_varint(rest);
    if (!number) return std::nullopt;
    (field.type == varint ? field.number : size) = *number;
  } else if (field.type != fixed64 && field.type != fixed32) {
    return std::nullopt;
  }
  if (field.type == varint) return field;
  if (size > rest.size()) return std::nullopt;
  field.content = rest.substr(0, size);
  rest.remove_prefix(size);
  return field;
}

// The fields of a message; none if the bytes are no message from end to end.
std::vector<RawField> fields_of(std::string_view message) {
  std::vector<RawField> fields;
  while (!message.empty()) {
    auto field = take_field(message);
    if (!field) return {};
    fields.push_back(std::move(*field));
  }
  return fields;
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += char(value | 0x80);
  out += char(value);
}

std::string message_of(const std::vector<RawField>& fields) {
  std::string out;
  for (const RawField& field : fields) {
    append_varint(out, field.id << 3 | field.type);
    if (field.type == varint) append_varint(out, field.number);
    if (field.type == bytes) append_varint(out, field.content.size());
    out += field.content;
  }
  return out;
}

void change_number(RawField& field, Random& random) {
  constexpr uint64_t numbers[] = {0, 1, 2, 3, 6, 255, 65'536, 0x7fffffff, 0xffffffff, 0x100000000, 0xffffffffffffffff};
  constexpr float reals[] = {0.0F,   -1.0F,
                             1e30F,  -1e30F,
                             1e-45F, std::numeric_limits<float>::infinity(),
                             -1e38F, std::numeric_limits<float>::quiet_NaN()};
  if (field.type == varint)
    field.number = below(4, random) == 0 ? field.number + below(9, random) - 4 : numbers[below(11, random)];
  else if (field.type == fixed32)
    std::memcpy(field.content.data(), &reals[below(8, random)], sizeof(float));
  else
    std::memcpy(field.content.data(), &numbers[below(11, random)], sizeof(uint64_t));
}

void change_bytes(std::string& content, const std::vector<RawField>& others, Random& random) {
  switch (below(5, random)) {
    case 0:
      content.clear();
      break;
    case 1:
      content.resize(below(content.size() + 1, random));
      break;
    case 2:
      content = others[below(others.size(), random)].content;  // a piece that comes twice
      break;
    case 3:
      content.insert(below(content.size() + 1, random), below(8, random) == 0 ? 5000 : 1, char(random()));
      break;
    default:
      if (!content.empty()) content[below(content.size(), random)] = char(random());
  }
}

}  // namespace

bool change_message(std::string& message, Random& random) {
  std::vector<RawField> fields = fields_of(message);
  if (fields.empty()) return false;
  // The first and last fields, which describe the whole, as often as any of the thousands of pieces between them.
  const size_t at = below(2, random) == 0 ? below(fields.size(), random)
                                          : (fields.size() - std::min<size_t>(fields.size(), 3)) +
                                                below(std::min<size_t>(fields.size(), 3), random);
  RawField& field = fields[at];
  switch (below(12, random)) {
    case 0:
      fields.erase(fields.begin() + std::ptrdiff_t(at));
      break;
    case 1:
      fields.insert(fields.begin() + std::ptrdiff_t(at), fields[below(fields.size(), random)]);
      break;
    case 2:
      std::swap(field, fields[below(fields.size(), random)]);
      break;
    case 3:
      field.id = 1 + below(50, random);
      break;
    case 4:
      field = {field.id, varint, random() >> below(64, random), ""};
      break;
    default:
      if (field.type != bytes)
        change_number(field, random);
      else if (below(8, random) == 0 || !change_message(field.content, random))
        change_bytes(field.content, fields, random);
  }
  message = message_of(fields);
  return true;
}

}  // namespace dragoman
