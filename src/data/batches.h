#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "model/batch.h"

namespace dragoman {

/// Some of the pairs of a plan.
struct PlannedPairs {
  std::span<const int32_t> pairs;         // indices into the corpus
  std::span<const uint16_t> copies = {};  // how often the epoch has had each of them before; empty: never
};

/// The batches of one epoch. Each pair of the corpus occurs exactly once, unless --corpus-weights change that. Takes 4
/// bytes per pair, and 2 more if pairs occur several times.
struct BatchPlan {
  std::vector<int32_t> pairs;          // in the order of training
  std::vector<int64_t> offsets = {0};  // batch b is pairs [offsets[b], offsets[b+1])
  std::vector<uint16_t> copies = {};   // as in PlannedPairs

  int64_t size() const { return int64_t(offsets.size()) - 1; }
  PlannedPairs operator[](int64_t b) const {
    const auto begin = size_t(offsets[b]), count = size_t(offsets[b + 1] - offsets[b]);
    return {std::span(pairs).subspan(begin, count),
            copies.empty() ? std::span<const uint16_t>() : std::span(copies).subspan(begin, count)};
  }
};

/// The batches of an epoch; a function of the arguments alone, so (seed, epoch, batch) is the position of training.
///
/// The shuffled corpus is taken in windows of --maxi-batch mini-batches. Inside a window, sentences are sorted by
/// (target, source) length, cut into batches, and the batches shuffled. A batch holds at most `mini_batch` pairs,
/// `mini_batch_words` target tokens and twice as many source tokens, so that a few long sources cannot exhaust the
/// memory; a single pair beyond these limits is a batch of its own. There is no padding: only real tokens are counted,
/// </s> included. With `no_shuffle`, pairs keep the order of the corpus and are only cut into batches.
///
/// With --corpus-weights, a pair of a corpus of weight 2.3 occurs twice in an epoch, and in three of ten epochs a third
/// time. The corpus is used up once before any of its pairs is used again, each time in another order.
BatchPlan plan_batches(const Corpus& corpus, const DataOptions& options, uint64_t seed, int64_t epoch);

/// The number of pairs in an epoch; with --corpus-weights, on average, but at least 1.
int64_t pairs_an_epoch(const Corpus& corpus);

/// Target tokens of all batches.
int64_t target_tokens(const Corpus& corpus, const BatchPlan& plan);

/// Indices into the plan, in ascending order: the batches with the most tokens of a side, and those that contain the
/// longest sentence of a side or the pair with the largest product of lengths, since a part of a batch that is computed
/// at once has whole sentences. No other batch needs much more memory than these.
std::vector<int64_t> largest_batches(const Corpus& corpus, const BatchPlan& plan);

/// Copies of a pair get different numbers in `Batch::sentences`, so that they have different random masks.
Batch assemble(const Corpus& corpus, const PlannedPairs& planned);

}  // namespace dragoman
