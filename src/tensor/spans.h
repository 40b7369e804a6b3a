#pragma once
#include <cstdint>
#include <vector>

#include "base/threads.h"
#include "tensor/tensor.h"

namespace dragoman {

/// Sentence boundaries of packed rows: sentence i owns rows [offsets[i], offsets[i+1]).
/// Invariants: offsets[0] == 0, non-decreasing, offsets.back() == number of rows. Cheap to copy.
class Spans {
 public:
  Spans() : Spans(std::vector<int32_t>{0}) {}
  explicit Spans(std::vector<int32_t> offsets);
  static Spans of_lengths(const std::vector<int32_t>& lengths);

  int sentences() const { return int(offsets_->size()) - 1; }
  int rows() const { return offsets_->back(); }  // N
  int longest() const { return longest_; }       // rows of the longest sentence, 0 if none
  Range operator[](int sentence) const { return {(*offsets_)[sentence], (*offsets_)[sentence + 1]}; }
  Tensor offsets() const { return Tensor::borrow(offsets_->data(), {int64_t(offsets_->size())}); }  // (B+1) int32

 private:
  std::shared_ptr<const std::vector<int32_t>> offsets_;
  int longest_ = 0;
};

}  // namespace dragoman
