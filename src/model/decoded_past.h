#pragma once
#include <map>
#include <span>
#include <vector>

#include "backend/step_keys.h"
#include "model/model.h"
#include "nn/cache.h"

namespace dragoman {

/// Where the keys and values of decoded tokens lie in a cache. A sentence takes rows in pages of 16 steps × its width.
/// A hypothesis remembers the row of each of its tokens: one that changes rows copies that list of integers and
/// nothing else.
class DecodedPast {
 public:
  explicit DecodedPast(CacheRows& cache) : cache_(cache) {}

  /// A sentence with at most `width` hypotheses, whose past begins with the cache rows of `prefix`.
  void add(int sentence, int width, std::vector<int32_t> prefix = {});
  void remove(int sentence);  // gives back its pages, not the prefix; does nothing for a sentence it does not know

  /// What a step's rows need to know.
  struct Step {
    Tensor cached;               // (R) int32: the rows that take this step's keys and values
    StepKeys keys;               // the past of each row, this step included
    int64_t longest = 0;         // tokens of the longest past
    std::vector<int64_t> token;  // (R): how many tokens each row has behind it

    Tensor positions() const { return int_tensor({token.begin(), token.end()}, {int64_t(token.size())}); }
  };
  Step step(std::span<const StepRow> rows);

 private:
  struct Sentence {
    int width;
    std::vector<int32_t> prefix;
    std::vector<int64_t> pages;  // first rows
  };
  int32_t row_of(Sentence& sentence, int64_t step, int position);

  CacheRows& cache_;
  std::map<int, Sentence> sentences_;
  std::vector<std::vector<int32_t>> history_;  // of each row of the last step: cache row of each of its tokens
};

}  // namespace dragoman
