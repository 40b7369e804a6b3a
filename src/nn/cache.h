#pragma once
#include "autodiff/context.h"
#include "base/range_allocator.h"

namespace dragoman {

/// Rows for keys and values during decoding, with the same row numbers in every layer. A sentence takes ranges of rows
/// when it is added or grows, and returns them when it is removed. Rows never move in between, and only the holder of a
/// range writes to it. The cache grows by half when it is full.
class CacheRows {
 public:
  CacheRows(Context& cx, int layers, int64_t width, DType dtype)
      : cx_(cx), width_(width), dtype_(dtype), layers_(layers) {}

  int64_t take(int64_t count);  // first row of `count` adjacent rows
  void give_back(int64_t first, int64_t count) { ranges_.give_back(first, count); }
  const Tensor& layer(int l) const { return layers_[l]; }  // (capacity, width)

 private:
  void grow(int64_t capacity);

  Context& cx_;
  const int64_t width_;
  const DType dtype_;
  std::vector<Tensor> layers_;
  RangeAllocator ranges_;
  int64_t capacity_ = 0;
};

}  // namespace dragoman
