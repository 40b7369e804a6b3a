#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

namespace dragoman {

/// Allocates ranges of the numbers from 0 on: the first hole that is large enough, else what follows the last range.
class RangeAllocator {
 public:
  /// The first number of a range of `count`. If there is no memory to note it, nothing is taken.
  int64_t take(int64_t count);
  /// Needs no memory, so destructors may call it.
  void give_back(int64_t first, int64_t count) noexcept;
  /// The end of the last range in use.
  int64_t end() const { return end_; }
  /// First number and size of what is free below the end. No two holes are adjacent.
  const std::map<int64_t, int64_t>& holes() const { return holes_; }

 private:
  using Holes = std::map<int64_t, int64_t>;

  void add_hole(int64_t first, int64_t count);
  Holes::iterator remove_hole(Holes::iterator hole);  // the next one

  Holes holes_;
  // Nodes for holes to come. A range in use follows each hole, so a node for each range is enough.
  std::multimap<int64_t, int64_t> spare_;
  size_t ranges_ = 0;  // in use
  int64_t end_ = 0;
};

}  // namespace dragoman
