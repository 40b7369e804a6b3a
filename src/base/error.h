#pragma once
#include <fmt/core.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace dragoman {

/// An error that the user can fix: a bad option, file or shape. `what()` says what was found and what was expected,
/// lower case, no full stop; `hint()` (may be empty) says what to do. Caught once, in cli/main.cpp: both go to stderr,
/// exit code 2.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = "")
      : std::runtime_error(message), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

/// Throws Error with the formatted message.
template <class... A>
[[noreturn]] void fail(fmt::format_string<A...> format, A&&... args) {
  throw Error(fmt::format(format, std::forward<A>(args)...));
}

/// Throws Error with the formatted message unless `condition` holds.
template <class... A>
void require(bool condition, fmt::format_string<A...> format, A&&... args) {
  if (!condition) [[unlikely]]
    throw Error(fmt::format(format, std::forward<A>(args)...));
}

/// Checks what only a bug can violate: reports the location, then aborts.
void invariant(bool condition, const char* what, std::source_location where = std::source_location::current());

}  // namespace dragoman
