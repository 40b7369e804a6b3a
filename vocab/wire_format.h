#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dragoman {

/// One field of a message in the wire format of protocol buffers: a number or a run of bytes.
struct WireField {
  uint64_t id = 0, number = 0;
  std::string_view bytes;  // also for numbers of fixed size
};

/// Reads fields from the front of a message; none at its end, or if it is not a message.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  std::optional<WireField> next();
  bool broken() const { return broken_; }  // next() ended before the message did

 private:
  std::optional<uint64_t> varint();
  std::optional<std::string_view> take(uint64_t bytes);
  bool read(WireField& field, uint64_t wire_type);

  std::string_view rest_;
  bool broken_ = false;
};

/// Appends fields to a message.
class MessageBuilder {
 public:
  void number(uint64_t id, uint64_t value);
  void number(uint64_t id, float value);  // of fixed size
  void bytes(uint64_t id, std::string_view value);
  void message(uint64_t id, const MessageBuilder& value) { bytes(id, value.text()); }
  void append(const MessageBuilder& fields) { text_ += fields.text(); }
  /// Begins a field whose `size` bytes are appended separately.
  void begin(uint64_t id, uint64_t size);

  const std::string& text() const { return text_; }

 private:
  void varint(uint64_t value);

  std::string text_;
};

}  // namespace dragoman
