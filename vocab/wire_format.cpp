#include "vocab/wire_format.h"

#include <cstring>

namespace dragoman {
namespace {

enum WireType : uint64_t { varint_type = 0, fixed64_type = 1, bytes_type = 2, fixed32_type = 5 };

}  // namespace

std::optional<WireField> Message::next() {
  if (rest_.empty() || broken_) return std::nullopt;
  const auto key = varint();
  WireField field;
  broken_ = !key || *key > UINT32_MAX || !read(field, *key & 7);
  if (broken_) return std::nullopt;
  field.id = *key >> 3;
  return field;
}

// Rejects groups, which SentencePiece does not use.
bool Message::read(WireField& field, uint64_t wire_type) {
  std::optional<uint64_t> size;
  switch (wire_type) {
    case varint_type:
      if (const auto number = varint()) return field.number = *number, true;
      return false;
    case fixed64_type:
      size = 8;
      break;
    case bytes_type:
      size = varint();
      break;
    case fixed32_type:
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

void MessageBuilder::number(uint64_t id, uint64_t value) {
  varint(id << 3 | varint_type);
  varint(value);
}

void MessageBuilder::number(uint64_t id, float value) {
  varint(id << 3 | fixed32_type);
  char little_endian[sizeof(value)];
  std::memcpy(little_endian, &value, sizeof(value));
  text_.append(little_endian, sizeof(value));
}

void MessageBuilder::bytes(uint64_t id, std::string_view value) {
  begin(id, value.size());
  text_ += value;
}

void MessageBuilder::begin(uint64_t id, uint64_t size) {
  varint(id << 3 | bytes_type);
  varint(size);
}

void MessageBuilder::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_ += char(value | 0x80);
  text_ += char(value);
}

}  // namespace dragoman
