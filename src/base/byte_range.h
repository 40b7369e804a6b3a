#pragma once
#include <cstddef>

namespace dragoman {

/// Bytes [begin, end) of a text.
struct ByteRange {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

}  // namespace dragoman
