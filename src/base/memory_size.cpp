#include "base/memory_size.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr struct {
  char letter;
  int64_t bytes;
} units[] = {{'G', int64_t{1} << 30}, {'M', int64_t{1} << 20}, {'K', int64_t{1} << 10}};

}  // namespace

MemorySize parse_memory_size(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, size_t(text.data() + text.size() - rest));
  if (error == std::errc{} && number == 0 && unit.empty()) return {};
  for (const auto [letter, bytes] : units)
    if (error == std::errc{} && number > 0 && number * double(bytes) < 0x1p62 && unit == std::string_view(&letter, 1))
      return {std::max(1LL, std::llround(number * double(bytes)))};  // 0 would be no limit
  throw Error(fmt::format("'{}' is not an amount of memory", text), "write 512M or 4G; 0 means no limit");
}

std::string to_string(MemorySize size) {
  for (const auto [letter, bytes] : units)
    if (size.bytes > 0 && size.bytes % bytes == 0) return fmt::format("{}{}", size.bytes / bytes, letter);
  return size.bytes == 0 ? "0" : fmt::format("{}K", double(size.bytes) / 1024);
}

}  // namespace dragoman
