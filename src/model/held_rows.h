#pragma once
#include <map>
#include <span>

#include "backend/step_keys.h"
#include "model/model.h"
#include "nn/cache.h"

namespace dragoman {

/// The cache rows that sentences hold during decoding; those of a sentence are contiguous.
class HeldRows {
 public:
  /// The cache must outlive it.
  explicit HeldRows(CacheRows& cache) : cache_(cache) {}

  /// Takes rows for the sentences first, first + 1, … of `spans`. (N) int32: the cache row for each row of the spans.
  Tensor add(int first, const Spans& spans);
  void remove(int sentence);  // ignores sentences without rows
  Range of(int sentence) const { return held_.at(sentence); }

  /// For each row of a step, the cache rows of its sentence.
  struct Step {
    StepKeys keys;  // length and begin
    int64_t longest = 0;
  };
  Step step(std::span<const StepRow> rows) const;

 private:
  CacheRows& cache_;
  std::map<int, Range> held_;
};

}  // namespace dragoman
