#include "base/grouped.h"

#include <fmt/core.h>

namespace dragoman {

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  const int first_digit = number < 0 ? 1 : 0;
  for (int at = int(text.size()) - 3; at > first_digit; at -= 3) text.insert(size_t(at), 1, ',');
  return text;
}

std::string counted(int64_t number, const char* what) {
  return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

int64_t mebibytes(int64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

std::string in_mebibytes(int64_t bytes) {
  const double size = double(bytes) / double(1 << 20);
  return size < 10 ? fmt::format("{:.1f} MiB", size) : grouped(int64_t(size)) + " MiB";
}

}  // namespace dragoman
