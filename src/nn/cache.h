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
      : cx_(cx), layers_(size_t(layers), Layer{width, dtype, {}}) {}

  int64_t take(int64_t count);  // first row of `count` adjacent rows
  void give_back(int64_t first, int64_t count) { ranges_.give_back(first, count); }
  const Tensor& layer(int l) const { return layers_[size_t(l)].rows; }  // (capacity, width)
  /// Adds a layer of its own width and type, and returns its number.
  int add_layer(int64_t width, DType dtype);

 private:
  struct Layer {
    int64_t width;
    DType dtype;
    Tensor rows;
  };
  void grow(int64_t capacity);

  Context& cx_;
  std::vector<Layer> layers_;
  RangeAllocator ranges_;
  int64_t capacity_ = 0;
};

}  // namespace dragoman
