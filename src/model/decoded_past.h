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
  void follow(std::span<const StepRow> rows) { next_ = extended(rows, histories_before(rows)); }
  /// The tables of the step after the last one, whether that is kept or not, if each of its rows continues itself.
  /// `rows`: of the last step.
  Step ahead(std::span<const StepRow> rows) { return tables_of(extended(rows, next_)); }
  void keep() { history_ = std::move(next_); }  // Decoding::keep

 private:
  struct Sentence {
    int width;
    std::vector<int32_t> prefix;
    std::vector<int64_t> pages;  // first rows
  };
  using History = std::vector<int32_t>;  // the cache row of each token of a hypothesis
  int32_t row_of(Sentence& sentence, int64_t step, int position);
  std::vector<History> histories_before(std::span<const StepRow> rows) const;
  std::vector<History> extended(std::span<const StepRow> rows, std::vector<History> histories);
  static Step tables_of(const std::vector<History>& histories);

  CacheRows& cache_;
  std::map<int, Sentence> sentences_;
  std::vector<History> history_, next_;  // of each row of the last step that was kept, and of the one after
};

}  // namespace dragoman
