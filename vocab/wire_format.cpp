#include "vocab/wire_format.h"

namespace dragoman {

std::optional<Field> Message::next() {
  if (rest_.empty() || broken_) return std::nullopt;
  const auto key = varint();
  Field field;
  broken_ = !key || *key > UINT32_MAX || !read(field, *key & 7);
  if (broken_) return std::nullopt;
  field.id = *key >> 3;
  return field;
}

// Groups, which SentencePiece does not use, are refused.
bool Message::read(Field& field, uint64_t wire_type) {
  std::optional<uint64_t> size;
  switch (wire_type) {
    case 0:
      if (const auto number = varint()) return field.number = *number, true;
      return false;
    case 1:
      size = 8;
      break;
    case 2:
      size = varint();
      break;
    case 5:
      size = 4;
      break;
    default:
      return false;
  }
  const auto bytes = size ? take(*size) : std::nullopt;
  if (bytes) field.bytes = *bytes;
  return bytes.has_value();
}

std::optional<uint64_t> Message::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto one = take(1);
    if (!one) return std::nullopt;
    const auto byte = uint8_t(one->front());
    value |= uint64_t(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Message::take(uint64_t bytes) {
  if (bytes > rest_.size()) return std::nullopt;
  const auto taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

}  // namespace dragoman
