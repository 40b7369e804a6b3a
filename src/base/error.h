#pragma once
#include <fmt/core.h>

#include <source_location>
#include <utility>

#include "dragoman/error.h"

namespace dragoman {

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

[[noreturn]] void broken_invariant(const char* what, std::source_location where);

/// Checks what only a bug can violate: throws std::logic_error with file and line if `condition` is false.
inline void invariant(bool condition, const char* what, std::source_location where = std::source_location::current()) {
  if (!condition) [[unlikely]]
    broken_invariant(what, where);
}

}  // namespace dragoman
