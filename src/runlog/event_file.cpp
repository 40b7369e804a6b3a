#include "runlog/event_file.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr std::array<uint32_t, 256> crc_table = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0x82F63B78u : 0u);  // the polynomial, reflected
    table[byte] = rest;
  }
  return table;
}();

template <class T>
std::string little_endian(T number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes += char(uint8_t(number >> 8 * i));
  return bytes;
}

uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

// Protobuf's encoding (protobuf.dev, "Encoding"): a field is its number and wire type, then the value.
enum WireType { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

std::string encode_varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += char(uint8_t(number) | 0x80);
  return bytes += char(number);
}

std::string tag(int field, WireType type) { return encode_varint(uint64_t(field) << 3 | uint64_t(type)); }

std::string integer_field(int field, int64_t value) { return tag(field, varint) + encode_varint(uint64_t(value)); }

std::string double_field(int field, double value) {
  return tag(field, fixed64) + little_endian(std::bit_cast<uint64_t>(value));
}

std::string float_field(int field, float value) {
  return tag(field, fixed32) + little_endian(std::bit_cast<uint32_t>(value));
}

std::string bytes_field(int field, std::string_view bytes) {
  return tag(field, delimited) + encode_varint(bytes.size()) + std::string(bytes);
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log.
std::string event(double time, int64_t step) { return double_field(1, time) + integer_field(2, step); }

FileDescriptor new_file(const std::string& folder, double time) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("--tensorboard {}: the folder cannot be created: {}", folder, error.message()));
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  return FileDescriptor::to_append(
      fmt::format("{}/events.out.tfevents.{:010}.{}.{}", folder, int64_t(time), host, getpid()));
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) crc = crc >> 8 ^ crc_table[(crc ^ uint8_t(byte)) & 0xff];
  return ~crc;
}

std::string tf_record(std::string_view data) {
  const std::string length = little_endian(uint64_t(data.size()));
  return length + little_endian(masked_crc(length)) + std::string(data) + little_endian(masked_crc(data));
}

std::string version_event(double time) { return event(time, 0) + bytes_field(3, "brain.Event:2"); }

// SessionLog: 1 status, of which 1 is START.
std::string restart_event(double time, int64_t step) { return event(time, step) + bytes_field(7, integer_field(1, 1)); }

// Summary: 1 value, repeated; Value: 1 tag, 2 simple_value.
std::string scalars_event(double time, int64_t step, const std::vector<Scalar>& scalars) {
  std::string summary;
  for (const Scalar& s : scalars) summary += bytes_field(1, bytes_field(1, s.tag) + float_field(2, float(s.value)));
  return event(time, step) + bytes_field(5, summary);
}

EventFile::EventFile(const std::string& folder, double time) : file_(new_file(folder, time)) {
  write(version_event(time));
}

}  // namespace dragoman
