#include "data/batches.h"

#include <algorithm>
#include <cmath>
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

// The first pair of a corpus with a weight above 0.
int32_t first_wanted(const Corpus& corpus, const std::vector<double>& weights) {
  int64_t pair = 0;
  for (size_t c = 0; c < corpus.ends.size(); pair = corpus.ends[c++])
    if (weights.at(c) > 0 && pair < corpus.ends[c]) return int32_t(pair);
  fail("no sentence pair is left in the corpora whose --corpus-weights are above 0");
}

// The pairs of an epoch in the order of the corpus; at least one, even if the weights are tiny.
std::vector<int32_t> pairs_of(const Corpus& corpus, const DataOptions& options, uint64_t seed, int64_t epoch) {
  std::vector<int32_t> due;
  if (options.corpus_weights.empty()) {
    due.resize(corpus.size());
    std::iota(due.begin(), due.end(), 0);
    return due;
  }
  due.reserve(size_t(1.01 * double(pairs_an_epoch(corpus, options))) +
              100);  // rarely exceeded: growing would double the memory
  int64_t pair = 0;
  for (size_t c = 0; c < corpus.ends.size(); ++c) {
    const double weight = options.corpus_weights.at(c), whole = std::floor(weight);
    for (; pair < corpus.ends[c]; ++pair) {
      const bool once_more = weight > whole && chance(seed, epoch, pair) < weight - whole;
      due.insert(due.end(), size_t(whole) + once_more, int32_t(pair));
    }
  }
  if (due.empty()) due.push_back(first_wanted(corpus, options.corpus_weights));
  return due;
}

// The pairs that a batch holds on average, times --maxi-batch.
int64_t window_pairs(const Corpus& corpus, const BatchPlan& plan, const Limits& limits, int64_t maxi_batch) {
  const auto pairs = double(plan.pairs.size());
  const double target_length = double(target_tokens(corpus, plan)) / pairs;
  const double typical = std::min(double(limits.pairs), double(limits.target_tokens) / target_length);
  return int64_t(std::clamp(typical * double(std::max<int64_t>(maxi_batch, 1)), 1.0, pairs));
}

// Sorts by (target, source) length; ties keep their shuffled order. Lengths are scattered in memory, so each is fetched
// once.
void sort_by_length(const PairStore& pairs, std::span<int32_t> window) {
  struct Keyed {
    uint32_t lengths;
    int32_t pair;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(window.size());
  for (int32_t pair : window)
    keyed.push_back({uint32_t(pairs.target_length(pair) << 16 | pairs.source_length(pair)), pair});
  std::ranges::stable_sort(keyed, {}, &Keyed::lengths);
  std::ranges::transform(keyed, window.begin(), &Keyed::pair);
}

// Ends a batch when the next pair would exceed a limit. Returns the number of pairs of each batch.
std::vector<int64_t> cut(const PairStore& pairs, std::span<const int32_t> window, const Limits& limits) {
  std::vector<int64_t> sizes;
  int64_t size = 0, source = 0, target = 0;  // of the current batch
  for (int32_t pair : window) {
    const int64_t s = pairs.source_length(pair), t = pairs.target_length(pair);
    const bool full = size == limits.pairs || source + s > limits.source_tokens || target + t > limits.target_tokens;
    if (full && size > 0) {
      sizes.push_back(size);
      size = source = target = 0;
    }
    ++size;
    source += s;
    target += t;
  }
  if (size > 0) sizes.push_back(size);
  return sizes;
}

// Puts the batches of a window, which have these sizes, and the sizes with them into random order.
void shuffle_batches(std::span<int32_t> window, std::vector<int64_t>& sizes, PhiloxSequence& numbers) {
  const std::vector<int32_t> sorted(window.begin(), window.end());
  std::vector<std::span<const int32_t>> batches;
  const int32_t* begin = sorted.data();
  for (int64_t size : sizes) batches.emplace_back(begin, size), begin += size;
  shuffle(batches, numbers);
  auto end = window.begin();
  for (const auto& batch : batches) end = std::ranges::copy(batch, end).out;
  std::ranges::transform(batches, sizes.begin(), [](const auto& batch) { return int64_t(batch.size()); });
}

void append(BatchPlan& plan, const std::vector<int64_t>& sizes) {
  for (int64_t size : sizes) plan.offsets.push_back(plan.offsets.back() + size);
}

// The batch with the largest total of `length`.
template <class Length>
int64_t largest(const BatchPlan& plan, const Length& length) {
  int64_t best = 0, most = -1;
  for (int64_t b = 0; b < plan.size(); ++b) {
    int64_t tokens = 0;
    for (int32_t pair : plan[b]) tokens += length(pair);
    if (tokens > most) best = b, most = tokens;
  }
  return best;
}

// One side of a batch.
class Packing {
 public:
  void add(std::span<const int32_t> sentence) {
    ids_.insert(ids_.end(), sentence.begin(), sentence.end());
    offsets_.push_back(int32_t(ids_.size()));
  }
  PackedIds take() { return {std::move(ids_), Spans(std::move(offsets_))}; }

 private:
  std::vector<int32_t> ids_, offsets_ = {0};
};

}  // namespace

BatchPlan plan_batches(const Corpus& corpus, const DataOptions& options, uint64_t seed, int64_t epoch) {
  const PairStore& pairs = corpus.pairs;
  const Limits limits = limits_of(options);
  BatchPlan plan{.pairs = pairs_of(corpus, options, seed, epoch)};
  if (options.no_shuffle) {
    append(plan, cut(pairs, plan.pairs, limits));
    return plan;
  }
  PhiloxSequence order = shuffle_numbers(seed, epoch, Shuffled::pairs);
  shuffle(plan.pairs, order);
  PhiloxSequence numbers = shuffle_numbers(seed, epoch, Shuffled::batches);
  const auto size = int64_t(plan.pairs.size());
  const int64_t window = size > 0 ? window_pairs(corpus, plan, limits, options.maxi_batch) : 1;
  for (int64_t begin = 0; begin < size; begin += window) {
    const auto in_window = std::span(plan.pairs).subspan(begin, std::min(window, size - begin));
    sort_by_length(pairs, in_window);
    auto sizes = cut(pairs, in_window, limits);
    shuffle_batches(in_window, sizes, numbers);
    append(plan, sizes);
  }
  return plan;
}

int64_t pairs_an_epoch(const Corpus& corpus, const DataOptions& options) {
  if (options.corpus_weights.empty()) return corpus.size();
  double pairs = 0;
  for (size_t c = 0; c < corpus.ends.size(); ++c)
    pairs += options.corpus_weights.at(c) * double(corpus.ends[c] - (c > 0 ? corpus.ends[c - 1] : 0));
  return std::llround(pairs);
}

int64_t target_tokens(const Corpus& corpus, const BatchPlan& plan) {
  int64_t tokens = 0;
  for (int32_t pair : plan.pairs) tokens += corpus.pairs.target_length(pair);
  return tokens;
}

LargestBatches largest_batches(const Corpus& corpus, const BatchPlan& plan) {
  const PairStore& pairs = corpus.pairs;
  return {largest(plan, [&](int64_t pair) { return pairs.target_length(pair); }),
          largest(plan, [&](int64_t pair) { return pairs.source_length(pair); })};
}

Batch assemble(const Corpus& corpus, std::span<const int32_t> pairs) {
  Packing source, target;
  std::vector<int32_t> lines;
  std::vector<float> weights;
  for (int32_t number : pairs) {
    const PairStore::Pair pair = corpus.pairs[number];
    source.add(pair.source);
    target.add(pair.target);
    lines.push_back(pair.line);
    if (corpus.pairs.weighted()) weights.push_back(pair.weight);
  }
  return {source.take(), target.take(), std::move(lines), std::move(weights)};
}

}  // namespace dragoman
