#include "data/batches.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <tuple>

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

// A pass of an epoch through the pairs [begin, end), which uses this share of them.
struct Pass {
  int64_t begin, end;
  double share;
};

// The passes through each corpus: with a weight of 2.3, two and 0.3 of a third. If it was read several times, each pass
// has pairs of its own.
std::vector<std::vector<Pass>> passes_of(const Corpus& corpus) {
  const auto& [texts, weights] = std::tie(corpus.files.texts, corpus.files.weights);
  if (weights.empty()) return {{{0, corpus.size(), 1}}};
  std::vector<std::vector<Pass>> passes;
  int64_t begin = 0;
  for (size_t c = 0; c < corpus.ends.size(); begin = corpus.ends[c++]) {
    if (c >= texts.size() || !texts[c].again) passes.emplace_back();
    for (double rest = weights.at(c); rest > 0; --rest)
      passes.back().push_back({begin, corpus.ends[c], std::min(rest, 1.0)});
  }
  return passes;
}

// Adds the pairs that a pass uses, in the order of the corpus.
void add_pairs(std::vector<int32_t>& pairs, const Pass& pass, uint64_t seed, int64_t epoch) {
  for (int64_t pair = pass.begin; pair < pass.end; ++pair)
    if (pass.share == 1 || chance(seed, epoch, pair) < pass.share) pairs.push_back(int32_t(pair));
}

int32_t first_wanted(const std::vector<std::vector<Pass>>& passes) {
  for (const auto& of_corpus : passes)
    for (const Pass& pass : of_corpus)
      if (pass.begin < pass.end) return int32_t(pass.begin);
  fail("no sentence pair is left in the corpora whose --corpus-weights are above 0");
}

// The pairs of an epoch, pass by pass; at least one, even if the weights are tiny.
std::vector<int32_t> pairs_of(const Corpus& corpus, uint64_t seed, int64_t epoch) {
  std::vector<int32_t> due;
  // Rarely exceeded: growing would double the memory.
  due.reserve(corpus.files.weights.empty() ? size_t(corpus.size())
                                           : size_t(1.01 * double(pairs_an_epoch(corpus))) + 100);
  const auto passes = passes_of(corpus);
  for (const auto& of_corpus : passes)
    for (const Pass& pass : of_corpus) add_pairs(due, pass, seed, epoch);
  if (due.empty() && !corpus.files.weights.empty()) due.push_back(first_wanted(passes));
  return due;
}

// Corpora keep their places in the shuffled order, but one of several passes fills its places pass by pass: then copies
// of a pair lie about a pass apart, instead of in the same window and, since their lengths are equal, the same batch.
void order_passes(std::vector<int32_t>& pairs, const Corpus& corpus, uint64_t seed, int64_t epoch,
                  PhiloxSequence& numbers) {
  for (const auto& passes : passes_of(corpus)) {
    if (passes.size() < 2) continue;
    const auto is_own = [&](int32_t pair) { return passes.front().begin <= pair && pair < passes.back().end; };
    auto place = pairs.begin();
    for (const Pass& pass : passes) {
      std::vector<int32_t> own;
      add_pairs(own, pass, seed, epoch);
      shuffle(own, numbers);
      for (const int32_t pair : own) {
        place = std::find_if(place, pairs.end(), is_own);
        *place++ = pair;
      }
    }
  }
}

// BatchPlan::copies.
std::vector<uint16_t> copies_in(const std::vector<int32_t>& pairs, const Corpus& corpus) {
  if (std::ranges::none_of(corpus.files.weights, [](double weight) { return weight > 1; })) return {};
  std::vector<uint16_t> before(size_t(corpus.size())), copies;
  copies.reserve(pairs.size());
  for (const int32_t pair : pairs) copies.push_back(before[size_t(pair)]++);
  return copies;
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

// The largest sum, or maximum, of `size` over the pairs of a batch belongs to this batch.
template <class Size, class Combine>
int64_t largest(const BatchPlan& plan, const Size& size, const Combine& combine) {
  int64_t best = 0, most = -1;
  for (int64_t b = 0; b < plan.size(); ++b) {
    int64_t of_batch = 0;
    for (int32_t pair : plan[b].pairs) of_batch = combine(of_batch, int64_t(size(pair)));
    if (of_batch > most) best = b, most = of_batch;
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
  BatchPlan plan{.pairs = pairs_of(corpus, seed, epoch)};
  if (options.no_shuffle) {
    append(plan, cut(pairs, plan.pairs, limits));
    plan.copies = copies_in(plan.pairs, corpus);
    return plan;
  }
  PhiloxSequence order = shuffle_numbers(seed, epoch, Shuffled::pairs);
  shuffle(plan.pairs, order);
  order_passes(plan.pairs, corpus, seed, epoch, order);
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
  plan.copies = copies_in(plan.pairs, corpus);
  return plan;
}

int64_t pairs_an_epoch(const Corpus& corpus) {
  double pairs = 0;
  for (const auto& passes : passes_of(corpus))
    for (const Pass& pass : passes) pairs += pass.share * double(pass.end - pass.begin);
  return std::max<int64_t>(1, std::llround(pairs));
}

int64_t target_tokens(const Corpus& corpus, const BatchPlan& plan) {
  int64_t tokens = 0;
  for (int32_t pair : plan.pairs) tokens += corpus.pairs.target_length(pair);
  return tokens;
}

std::vector<int64_t> largest_batches(const Corpus& corpus, const BatchPlan& plan) {
  const auto source = [&](int64_t pair) { return int64_t(corpus.pairs.source_length(pair)); };
  const auto target = [&](int64_t pair) { return int64_t(corpus.pairs.target_length(pair)); };
  const auto both = [&](int64_t pair) { return source(pair) * target(pair); };
  const auto longest = [](int64_t a, int64_t b) { return std::max(a, b); };
  const std::set<int64_t> found = {largest(plan, target, std::plus()), largest(plan, source, std::plus()),
                                   largest(plan, target, longest), largest(plan, source, longest),
                                   largest(plan, both, longest)};
  return {found.begin(), found.end()};
}

Batch assemble(const Corpus& corpus, const PlannedPairs& planned) {
  // Copy c of a pair is numbered as if the whole text were there c times before.
  const uint32_t all_lines = planned.copies.empty() ? 0 : 1 + uint32_t(corpus.pairs[corpus.size() - 1].line);
  Packing source, target;
  std::vector<int32_t> lines;
  std::vector<float> weights;
  std::vector<std::vector<TokenLink>> links;
  for (size_t i = 0; i < planned.pairs.size(); ++i) {
    PairStore::Pair pair = corpus.pairs[planned.pairs[i]];
    source.add(pair.source);
    target.add(pair.target);
    lines.push_back(planned.copies.empty() ? pair.line : int32_t(uint32_t(pair.line) + planned.copies[i] * all_lines));
    if (corpus.pairs.weighted()) weights.push_back(pair.weight);
    if (corpus.pairs.linked()) links.push_back(std::move(pair.links));
  }
  return {source.take(),
          target.take(),
          std::move(lines),
          std::move(weights),
          std::move(links),
          corpus.files.links_weight,
          corpus.pairs.mean_weight()};
}

}  // namespace dragoman
