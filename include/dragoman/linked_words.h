#pragma once
#include <cstddef>

namespace dragoman {

/// A word or several of a line, and those of its translation that attend to them: bytes [begin, end) of each. Those of
/// the line count U+FFFD in place of ill-formed UTF-8.
struct LinkedWords {
  size_t source_begin = 0, source_end = 0;
  size_t target_begin = 0, target_end = 0;
  bool operator==(const LinkedWords&) const = default;
};

}  // namespace dragoman
