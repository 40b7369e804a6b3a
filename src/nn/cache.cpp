#include "nn/cache.h"

#include <algorithm>

#include "backend/backend.h"

namespace dragoman {

int64_t CacheRows::take(int64_t count) {
  auto hole = std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.second >= count; });
  if (hole == free_.end()) {
    grow(std::max(capacity_ + capacity_ / 2, capacity_ + std::max<int64_t>(count, 256)));
    return take(count);
  }
  const auto [first, rows] = *hole;
  free_.erase(hole);
  if (rows > count) free_.emplace(first + count, rows - count);
  return first;
}

void CacheRows::give_back(int64_t first, int64_t count) {
  auto next = free_.lower_bound(first);
  if (next != free_.end() && next->first == first + count) {
    count += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == first) {
      before->second += count;
      return;
    }
  }
  free_.emplace(first, count);
}

void CacheRows::grow(int64_t capacity) {
  for (Tensor& layer : layers_) {
    const Tensor wider = cx_.arena.allocate({capacity, width_}, dtype_);
    if (layer) cx_.backend.copy(wider.row_range(0, capacity_), layer.row_range(0, capacity_));
    layer = wider;
  }
  give_back(capacity_, capacity - capacity_);
  capacity_ = capacity;
}

}  // namespace dragoman
