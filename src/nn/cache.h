#pragma once
#include <map>

#include "autodiff/context.h"

namespace dragoman {

/// Rows that hold keys and values while sentences are decoded: the same row numbers in every layer. Ranges of rows are
/// taken when a sentence comes or grows, given back when it leaves; nothing moves in between, and what was written is
/// never written again while its range is held. Grows by half when full.
class CacheRows {
 public:
  CacheRows(Context& cx, int layers, int64_t width, DType dtype)
      : cx_(cx), width_(width), dtype_(dtype), layers_(layers) {}

  int64_t take(int64_t count);  // first row of `count` neighbours
  void give_back(int64_t first, int64_t count);
  const Tensor& layer(int l) const { return layers_[l]; }  // (capacity, width)

 private:
  void grow(int64_t capacity);

  Context& cx_;
  const int64_t width_;
  const DType dtype_;
  std::vector<Tensor> layers_;
  std::map<int64_t, int64_t> free_;  // first row -> rows, no two neighbours
  int64_t capacity_ = 0;
};

}  // namespace dragoman
