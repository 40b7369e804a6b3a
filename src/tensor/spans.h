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
  static Spans one_row_each(int64_t sentences) { return of_lengths(std::vector<int32_t>(sentences, 1)); }

  int sentences() const { return int(made_->offsets.size()) - 1; }
  int rows() const { return made_->offsets.back(); }  // N
  int longest() const { return longest_; }            // rows of the longest sentence, 0 if none
  Range operator[](int sentence) const { return {made_->offsets[sentence], made_->offsets[sentence + 1]}; }
  Tensor offsets() const;  // (B+1) int32

 private:
  struct Made {
    std::vector<int32_t> offsets;
    Mirror mirror;
  };
  std::shared_ptr<Made> made_;
  int longest_ = 0;
};

}  // namespace dragoman
