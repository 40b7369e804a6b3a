#pragma once
#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>

namespace dragoman {

/// An integer as people read it: 1234567 is "1,234,567". The same in every locale.
template <std::integral I>
std::string grouped(I number) {
  std::string text = fmt::to_string(number);
  const int first_digit = number < 0 ? 1 : 0;
  for (int at = int(text.size()) - 3; at > first_digit; at -= 3) text.insert(at, 1, ',');
  return text;
}

/// "1 line", "1,000 lines".
template <std::integral I>
std::string counted(I number, const char* what) {
  return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

/// "0.4 MiB", "1,093 MiB".
inline std::string in_mebibytes(int64_t bytes) {
  const double size = double(bytes) / double(1 << 20);
  return size < 10 ? fmt::format("{:.1f} MiB", size) : grouped(int64_t(size)) + " MiB";
}

}  // namespace dragoman
