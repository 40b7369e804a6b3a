#pragma once
#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace dragoman {

/// The number that the whole text is, in the same form in every locale. None if the text is anything else, or out of
/// the range of T; "inf" and "nan" are numbers of floating-point types.
template <class T>
requires std::integral<T> || std::floating_point<T> std::optional<T> parse_number(std::string_view text) {
  T number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

}  // namespace dragoman
