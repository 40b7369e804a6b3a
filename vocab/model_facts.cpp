#include "vocab/model_facts.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

namespace dragoman {
namespace {

// One field of a message in the wire format of protocol buffers: a number or a run of bytes.
struct Field {
  uint64_t id = 0, number = 0;
  std::string_view bytes;
};

// Takes fields off the front of a message; none at its end, or where it is not a message.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  std::optional<Field> next() {
    const uint64_t key = varint();
    if (rest_.empty()) return std::nullopt;
    Field field{.id = key >> 3};
    switch (key & 7) {
      case 0:
        field.number = varint();
        break;
      case 1:
        skip(8);
        break;
      case 2:
        field.bytes = skip(varint());
        break;
      case 5:
        skip(4);
        break;
      default:
        return std::nullopt;
    }
    return field;
  }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; !rest_.empty() && shift < 64; shift += 7) {
      const auto byte = uint8_t(skip(1)[0]);
      value |= uint64_t(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  std::string_view skip(uint64_t bytes) {
    const auto skipped = rest_.substr(0, std::min<uint64_t>(bytes, rest_.size()));
    rest_.remove_prefix(skipped.size());
    return skipped;
  }

  std::string_view rest_;
};

// The first field with this number, or an empty one.
Field find(std::string_view message, uint64_t id) {
  Message fields(message);
  while (const auto field = fields.next())
    if (field->id == id) return *field;
  return {};
}

std::vector<std::string> protected_symbols(std::string_view model) {
  constexpr uint64_t piece = 1, piece_text = 1, piece_type = 3, user_defined = 4;
  std::vector<std::string> symbols;
  Message fields(model);
  while (const auto field = fields.next())
    if (field->id == piece && find(field->bytes, piece_type).number == user_defined)
      symbols.emplace_back(find(field->bytes, piece_text).bytes);
  return symbols;
}

}  // namespace

ModelFacts facts_of(std::string_view model) {
  constexpr uint64_t trainer = 2, trainer_model_type = 3, normalizer = 3, normalizer_name = 1;
  constexpr std::string_view types[] = {"unigram", "unigram", "bpe", "word", "char"};  // 0 is "not set": the default
  const uint64_t type = find(find(model, trainer).bytes, trainer_model_type).number;
  return {.type = std::string(type < std::size(types) ? types[type] : "unknown"),
          .normalization = std::string(find(find(model, normalizer).bytes, normalizer_name).bytes),
          .protected_symbols = protected_symbols(model)};
}

}  // namespace dragoman
