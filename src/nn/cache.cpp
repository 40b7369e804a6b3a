#include "nn/cache.h"

#include <algorithm>

#include "backend/backend.h"

namespace dragoman {

int64_t CacheRows::take(int64_t count) {
  const int64_t first = ranges_.take(count);
  if (ranges_.end() <= capacity_) return first;
  try {
    grow(std::max(capacity_ + capacity_ / 2, capacity_ + std::max<int64_t>(count, 256)));
  } catch (...) {  // no memory
    ranges_.give_back(first, count);
    throw;
  }
  return first;
}

void CacheRows::grow(int64_t capacity) {
  for (Tensor& layer : layers_) {
    const Tensor wider = cx_.arena.allocate({capacity, width_}, dtype_);
    if (layer) cx_.backend.copy(wider.row_range(0, capacity_), layer.row_range(0, capacity_));
    layer = wider;
  }
  capacity_ = capacity;
}

}  // namespace dragoman
