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

int CacheRows::add_layer(int64_t width, DType dtype) {
  Layer layer{width, dtype, {}};
  if (capacity_ > 0) layer.rows = cx_.arena.allocate({capacity_, width}, dtype);
  layers_.push_back(std::move(layer));
  return int(layers_.size()) - 1;
}

void CacheRows::grow(int64_t capacity) {
  for (Layer& layer : layers_) {
    const Tensor longer = cx_.arena.allocate({capacity, layer.width}, layer.dtype);
    if (layer.rows) cx_.backend.copy(longer.row_range(0, capacity_), layer.rows.row_range(0, capacity_));
    layer.rows = longer;
  }
  capacity_ = capacity;
}

}  // namespace dragoman
