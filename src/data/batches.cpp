#include "data/batches.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "data/shuffle.h"

namespace dragoman {
namespace {

struct Limits {
  int64_t pairs, target_tokens, source_tokens;
};

Limits limits_of(const DataOptions& options) {
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  const int64_t pairs = options.mini_batch, words = options.mini_batch_words;
  require(pairs > 0 || words > 0, "--mini-batch-words {} and --mini-batch {}: at least one must limit a batch", words,
          pairs);
  return {pairs > 0 ? pairs : none, words > 0 ? words : none, words > 0 ? 2 * words : none};
}

// The pairs that a batch holds on average, times --maxi-batch.
int64_t window_pairs(const Corpus& corpus, const Limits& limits, int64_t maxi_batch) {
  const double target_length = double(corpus.target.ids.size()) / double(corpus.size());
  const double typical = std::min(double(limits.pairs), double(limits.target_tokens) / target_length);
  return int64_t(std::clamp(typical * double(std::max<int64_t>(maxi_batch, 1)), 1.0, double(corpus.size())));
}

// Ties keep their shuffled order.
void sort_by_length(const Corpus& corpus, std::span<int64_t> pairs) {
  std::stable_sort(pairs.begin(), pairs.end(), [&](int64_t a, int64_t b) {
    return std::pair(corpus.target.length(a), corpus.source.length(a)) <
           std::pair(corpus.target.length(b), corpus.source.length(b));
  });
}

// Ends a batch where the next pair would exceed a limit.
std::vector<std::span<const int64_t>> cut(const Corpus& corpus, std::span<const int64_t> pairs, const Limits& limits) {
  std::vector<std::span<const int64_t>> batches;
  size_t begin = 0;
  int64_t source = 0, target = 0;  // tokens of pairs [begin, i)
  for (size_t i = 0; i < pairs.size(); ++i) {
    const int64_t s = corpus.source.length(pairs[i]), t = corpus.target.length(pairs[i]);
    const bool full =
        int64_t(i - begin) == limits.pairs || source + s > limits.source_tokens || target + t > limits.target_tokens;
    if (full && i > begin) {
      batches.push_back(pairs.subspan(begin, i - begin));
      begin = i;
      source = target = 0;
    }
    source += s;
    target += t;
  }
  if (begin < pairs.size()) batches.push_back(pairs.subspan(begin));
  return batches;
}

void append(BatchPlan& plan, const std::vector<std::span<const int64_t>>& batches) {
  for (std::span<const int64_t> batch : batches) {
    plan.pairs.insert(plan.pairs.end(), batch.begin(), batch.end());
    plan.offsets.push_back(int64_t(plan.pairs.size()));
  }
}

BatchPlan plan_in_order(const Corpus& corpus, const Limits& limits) {
  std::vector<int64_t> order(corpus.size());
  std::iota(order.begin(), order.end(), 0);
  BatchPlan plan;
  append(plan, cut(corpus, order, limits));
  return plan;
}

int64_t tokens(const Sentences& sentences, std::span<const int64_t> pairs) {
  int64_t sum = 0;
  for (int64_t pair : pairs) sum += sentences.length(pair);
  return sum;
}

int64_t largest(const Sentences& sentences, const BatchPlan& plan) {
  int64_t best = 0, most = -1;
  for (int64_t b = 0; b < plan.size(); ++b)
    if (const int64_t n = tokens(sentences, plan[b]); n > most) best = b, most = n;
  return best;
}

PackedIds pack(const Sentences& sentences, std::span<const int64_t> pairs) {
  std::vector<int32_t> ids, offsets = {0};
  ids.reserve(tokens(sentences, pairs));
  for (int64_t pair : pairs) {
    const auto sentence = sentences[pair];
    ids.insert(ids.end(), sentence.begin(), sentence.end());
    offsets.push_back(int32_t(ids.size()));
  }
  return {std::move(ids), Spans(std::move(offsets))};
}

}  // namespace

BatchPlan plan_batches(const Corpus& corpus, const DataOptions& options, uint64_t seed, int64_t epoch) {
  const Limits limits = limits_of(options);
  if (options.no_shuffle) return plan_in_order(corpus, limits);

  std::vector<int64_t> order = permutation(corpus.size(), seed, epoch);
  const int64_t window = corpus.size() ? window_pairs(corpus, limits, options.maxi_batch) : 1;
  PhiloxSequence numbers = shuffle_numbers(seed, epoch, Shuffled::batches);
  BatchPlan plan;
  plan.pairs.reserve(order.size());
  for (int64_t begin = 0; begin < corpus.size(); begin += window) {
    const auto pairs = std::span(order).subspan(begin, std::min(window, corpus.size() - begin));
    sort_by_length(corpus, pairs);
    auto batches = cut(corpus, pairs, limits);
    shuffle(batches, numbers);
    append(plan, batches);
  }
  return plan;
}

LargestBatches largest_batches(const Corpus& corpus, const BatchPlan& plan) {
  return {largest(corpus.target, plan), largest(corpus.source, plan)};
}

Batch assemble(const Corpus& corpus, std::span<const int64_t> pairs) {
  Batch batch{pack(corpus.source, pairs), pack(corpus.target, pairs), {}};
  for (int64_t pair : pairs) batch.sentences.push_back(corpus.lines[pair]);
  return batch;
}

}  // namespace dragoman
