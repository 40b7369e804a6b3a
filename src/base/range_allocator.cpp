#include "base/range_allocator.h"

#include <algorithm>

namespace dragoman {

int64_t RangeAllocator::take(int64_t count) {
  if (holes_.size() + spare_.size() == ranges_) spare_.emplace(0, 0);
  ++ranges_;
  const auto fits = std::ranges::find_if(holes_, [&](const auto& hole) { return hole.second >= count; });
  if (fits == holes_.end()) {
    end_ += count;
    return end_ - count;
  }
  const auto [first, size] = *fits;
  remove_hole(fits);
  if (size > count) add_hole(first + count, size - count);
  return first;
}

void RangeAllocator::give_back(int64_t first, int64_t count) noexcept {
  --ranges_;
  auto next = holes_.lower_bound(first);
  if (next != holes_.end() && next->first == first + count) {
    count += next->second;
    next = remove_hole(next);
  }
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == first) {
      first = before->first;
      count += before->second;
      remove_hole(before);
    }
  }
  if (first + count == end_)
    end_ = first;
  else
    add_hole(first, count);
}

void RangeAllocator::add_hole(int64_t first, int64_t count) {
  auto node = spare_.extract(spare_.begin());
  node.key() = first;
  node.mapped() = count;
  holes_.insert(std::move(node));
}

RangeAllocator::Holes::iterator RangeAllocator::remove_hole(Holes::iterator hole) {
  const auto next = std::next(hole);
  spare_.insert(holes_.extract(hole));
  return next;
}

}  // namespace dragoman
