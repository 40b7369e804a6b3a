#pragma once
#include <map>
#include <span>
#include <vector>

#include "backend/step_keys.h"
#include "model/model.h"
#include "nn/cache.h"

namespace dragoman {

/// Where the keys and values of decoded tokens lie in a cache. A sentence takes rows in pages of 16 steps × its width.
/// A hypothesis keeps the cache row of each of its tokens. When it moves to another row of the step, only that list of
/// integers is copied.
class DecodedPast {
 public:
  explicit DecodedPast(CacheRows& cache) : cache_(cache) {}

  /// A sentence with at most `width` hypotheses, whose past begins with the cache rows of `prefix`.
  void add(int sentence, int width, std::vector<int32_t> prefix = {});
  void remove(int sentence);  // releases its pages, not the prefix; ignores unknown sentences

  /// The tables of one step.
  struct Step {
    Tensor cached;               // (R) int32: the cache rows to write this step's keys and values to
    StepKeys keys;               // the past of each row, this step included
    int64_t longest = 0;         // tokens of the longest past
    std::vector<int64_t> token;  // (R): the number of tokens before each row

    Tensor positions() const { return int_tensor({token.begin(), token.end()}, {int64_t(token.size())}); }
  };
  Step step(std::span<const StepRow> rows);
  /// The same without the tables.
  void follow(std::span<const StepRow> rows);
  /// The tables of the step after the last one, for the case that each of its rows continues itself. The last step,
  /// which had these `rows`, need not have been kept.
  Step ahead(std::span<const StepRow> rows);
  void keep() { last_ = std::move(next_); }  // Decoding::keep
  /// The cache rows of the tokens of a hypothesis, one for each step.
  std::vector<int32_t> rows_of(const DecodedTokens& hypothesis) const;

 private:
  struct Sentence {
    int width;
    std::vector<int32_t> prefix;
    std::vector<int64_t> pages;  // first rows
  };
  /// The cache row of each token of some hypotheses.
  struct Histories {
    std::vector<int32_t> lengths;  // (R)
    std::vector<int32_t> table;    // (R, longest); 0 beyond the length
    int64_t longest = 0;

    std::span<const int32_t> operator[](size_t r) const { return {&table[r * size_t(longest)], size_t(lengths[r])}; }
  };
  int32_t row_of(Sentence& sentence, int64_t step, int position);  // of a page that is taken if it is not there
  static int32_t row_in(const Sentence& sentence, int64_t step, int position);
  template <class F>
  Histories extended(std::span<const StepRow> rows, const F& before);
  static Step tables_of(const Histories& histories);

  CacheRows& cache_;
  std::map<int, Sentence> sentences_;
  Histories last_, next_;  // of each row of the last step that was kept, and of the one after
};

}  // namespace dragoman
