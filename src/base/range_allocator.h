#pragma once
#include <cstdint>
#include <map>

namespace dragoman {

/// Allocates ranges of the numbers from 0 on: the first hole that is large enough, else what follows the last range.
class RangeAllocator {
 public:
  /// The first number of a range of `count`.
  int64_t take(int64_t count);
  void give_back(int64_t first, int64_t count);
  /// The end of the last range in use.
  int64_t end() const { return end_; }
  /// First number and size of what is free below the end. No two holes are adjacent.
  const std::map<int64_t, int64_t>& holes() const { return holes_; }

 private:
  std::map<int64_t, int64_t> holes_;
  int64_t end_ = 0;
};

}  // namespace dragoman
