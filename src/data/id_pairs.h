#pragma once
#include <functional>
#include <span>
#include <vector>

#include "model/batch.h"

namespace dragoman {

/// A sentence pair as ids; both sides end with </s>.
struct IdPair {
  std::vector<int32_t> source, target;
};

/// Keeps the first `most` pieces of each side, and the links of kept tokens: pieces and the </s> that will follow them.
/// Returns whether a side was longer.
bool crop(std::vector<int32_t>& source, std::vector<int32_t>& target, std::vector<TokenLink>& links, int64_t most);

/// Batches that together hold every pair once. A batch has pairs of similar length, with at most `batch_words` target
/// tokens and as many source tokens, or a single pair.
class PairBatches {
 public:
  /// The pairs must outlive it.
  PairBatches(std::span<const IdPair> pairs, int64_t batch_words);
  PairBatches(const PairBatches&) = delete;

  bool at_end() const { return rest_.empty(); }
  /// The next batch; `numbers` receives the indices of its pairs. Must not be called at the end.
  Batch next(std::span<const size_t>& numbers);

 private:
  const std::span<const IdPair> pairs_;
  const int64_t batch_words_;
  const std::vector<size_t> order_;
  std::span<const size_t> rest_;  // of order_
};

/// Calls f with all batches and the indices of their pairs.
void for_each_batch(std::span<const IdPair> pairs, int64_t batch_words,
                    const std::function<void(const Batch& batch, std::span<const size_t> numbers)>& f);

}  // namespace dragoman
