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

/// Calls f with batches, which together hold every pair once, and with the indices of their pairs. A batch has pairs of
/// similar length, with at most `batch_words` target tokens and as many source tokens, or a single pair.
void for_each_batch(std::span<const IdPair> pairs, int64_t batch_words,
                    const std::function<void(const Batch& batch, std::span<const size_t> numbers)>& f);

}  // namespace dragoman
