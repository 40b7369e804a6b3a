#pragma once
#include <map>

#include "autodiff/context.h"

namespace dragoman {

/// Rows that hold keys and values while sentences are decoded, with the same row numbers in every layer. A sentence
/// takes ranges of rows when it is added or grows, and gives them back when it is removed. Rows never move in between,
/// and a row that was written is not overwritten while its range is held. The cache grows by half when it is full.
class CacheRows {
 public:
  CacheRows(Context& cx, int layers, int64_t width, DType dtype)
      : cx_(cx), width_(width), dtype_(dtype), layers_(layers) {}

  int64_t take(int64_t count);  // first row of `count` adjacent rows
  void give_back(int64_t first, int64_t count);
  const Tensor& layer(int l) const { return layers_[l]; }  // (capacity, width)

 private:
  void grow(int64_t capacity);

  Context& cx_;
  const int64_t width_;
  const DType dtype_;
  std::vector<Tensor> layers_;
  std::map<int64_t, int64_t> free_;  // first row -> rows; no two ranges are adjacent
  int64_t capacity_ = 0;
};

}  // namespace dragoman
