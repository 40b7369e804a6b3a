#include "base/range_allocator.h"

#include <algorithm>

namespace dragoman {

int64_t RangeAllocator::take(int64_t count) {
  const auto fits = std::ranges::find_if(holes_, [&](const auto& hole) { return hole.second >= count; });
  if (fits == holes_.end()) {
    end_ += count;
    return end_ - count;
  }
  const auto [first, size] = *fits;
  holes_.erase(fits);
  if (size > count) holes_.emplace(first + count, size - count);
  return first;
}

void RangeAllocator::give_back(int64_t first, int64_t count) {
  auto next = holes_.lower_bound(first);
  if (next != holes_.end() && next->first == first + count) {
    count += next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == first) {
      first = before->first;
      count += before->second;
      holes_.erase(before);
    }
  }
  if (first + count == end_)
    end_ = first;
  else
    holes_.emplace(first, count);
}

}  // namespace dragoman
