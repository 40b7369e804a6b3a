#include <gmock/gmock.h>

#include <map>
#include <set>

#include "backend/registry.h"
#include "tests/decode/toy_decoding.h"
#include "tests/special_ids.h"

namespace dragoman {
namespace {

using Pieces = ToyDecoding::Pieces;

const Pieces source = {3, 4}, source_with_end = {3, 4, eos_id};

class SamplingTest : public testing::Test {
 protected:
  std::vector<std::vector<Hypothesis>> draw(const SearchOptions& options, const std::vector<Sentence>& sentences,
                                            int64_t tokens = 1 << 20) {
    std::vector<Ensemble::Member> members;
    members.push_back({std::make_unique<ToyDecoding>()});
    return found_by(Ensemble(cx, std::move(members)), options, sentences, tokens);
  }

  // How often each piece came first in the translations of many lines; eos_id for empty ones.
  std::map<int32_t, int> first_pieces(SearchOptions options, int lines) {
    options.beam_size = 1;
    std::vector<Sentence> sentences;
    for (int i = 0; i < lines; ++i) sentences.push_back({source, {}, uint64_t(i)});
    std::map<int32_t, int> counts;
    for (const auto& best : draw(options, sentences)) ++counts[best[0].ids.empty() ? eos_id : best[0].ids[0]];
    return counts;
  }

  Arena arena;
  Context cx{.backend = backend("cpu"), .arena = arena};
};

using Weights = std::vector<std::pair<double, int32_t>>;

Weights first(Weights weights, size_t count) { return {weights.begin(), weights.begin() + count}; }

// The candidates of the first draw, most probable first, with p^(1/temperature).
Weights weights(double temperature = 1) {
  const auto z = ToyDecoding::logits(source_with_end, {});
  Weights weights;
  for (int32_t id = eos_id; id < ToyDecoding::vocabulary; ++id)
    weights.emplace_back(std::exp(log_prob(z, id) / temperature), id);
  std::ranges::sort(weights, std::greater());
  return weights;
}

// Counts of n draws with these weights: each within five standard deviations.
void expect_counts(const std::map<int32_t, int>& counts, const Weights& weights, int n) {
  double sum = 0;
  for (const auto& [weight, id] : weights) sum += weight;
  int all = 0;
  for (const auto& [weight, id] : weights) {
    const double p = weight / sum;
    const int count = counts.contains(id) ? counts.at(id) : 0;
    EXPECT_NEAR(count, n * p, 5 * std::sqrt(n * p * (1 - p))) << "piece " << id;
    all += count;
  }
  EXPECT_EQ(all, n) << "something else was drawn";
}

constexpr int draws = 4000;

TEST_F(SamplingTest, DrawsEachPieceAsOftenAsItIsProbable) {
  expect_counts(first_pieces({.max_length_add = 0, .sampling = Sampling::full}, draws), weights(), draws);
}

TEST_F(SamplingTest, FollowsTheTemperature) {
  for (const double t : {0.5, 3.0})
    expect_counts(first_pieces({.max_length_add = 0, .sampling = Sampling::full, .temperature = t}, draws), weights(t),
                  draws);
}

TEST_F(SamplingTest, DrawsFromTheMostProbablePieces) {
  for (const int k : {1, 2, 3})
    expect_counts(first_pieces({.max_length_add = 0, .sampling = Sampling::topk, .sampling_pieces = k}, draws),
                  first(weights(), size_t(k)), draws);
}

TEST_F(SamplingTest, DrawsFromTheFewestPiecesOfAProbability) {
  const auto all = weights();
  double total = 0, reached = 0;
  for (const auto& [weight, id] : all) total += weight;
  for (size_t k = 1; k <= all.size(); ++k) {
    reached += all[k - 1].first;  // slightly less than the mass of k pieces needs all k
    expect_counts(
        first_pieces({.max_length_add = 0, .sampling = Sampling::nucleus, .sampling_mass = reached / total - 1e-4},
                     draws),
        first(all, k), draws);
  }
  expect_counts(first_pieces({.max_length_add = 0, .sampling = Sampling::nucleus, .sampling_mass = 1}, draws),
                first(all, all.size()), draws);
}

TEST_F(SamplingTest, IsGreedySearchWhenOnlyTheBestMayBeDrawn) {
  const Sentence sentence{source};
  const Hypothesis greedy = draw({.beam_size = 1}, {sentence})[0][0];
  EXPECT_EQ(draw({.beam_size = 1, .sampling = Sampling::topk, .sampling_pieces = 1}, {sentence})[0][0], greedy);
  EXPECT_EQ(draw({.beam_size = 1, .sampling = Sampling::nucleus, .sampling_mass = 0}, {sentence})[0][0], greedy);
  EXPECT_EQ(draw({.beam_size = 1, .sampling = Sampling::full, .temperature = 1e-3}, {sentence})[0][0], greedy);
}

TEST_F(SamplingTest, GivesTheModelsLogProbabilities) {
  const auto found = draw({.beam_size = 20, .n_best = 20, .sampling = Sampling::full, .temperature = 2}, {{source}})[0];
  ASSERT_EQ(found.size(), 20u);
  EXPECT_TRUE(std::ranges::is_sorted(found, std::greater(), &Hypothesis::score));
  for (const Hypothesis& h : found) {
    Pieces prefix;
    double sum = 0;
    for (const int32_t id : h.ids) {
      sum += log_prob(ToyDecoding::logits(source_with_end, prefix), id);
      prefix.push_back(id);
    }
    if (h.length > int(h.ids.size())) sum += log_prob(ToyDecoding::logits(source_with_end, prefix), eos_id);
    EXPECT_NEAR(h.log_prob, sum, 1e-4);
  }
}

TEST_F(SamplingTest, DependsOnSeedLineAndSegmentAndOnNothingElse) {
  SearchOptions options{.beam_size = 2, .n_best = 2, .sampling = Sampling::full};
  std::vector<Sentence> sentences;
  for (uint64_t line = 0; line < 20; ++line)
    for (uint64_t part = 0; part < 3; ++part) sentences.push_back({source, {}, line, part});
  const auto found = draw(options, sentences);
  EXPECT_EQ(draw(options, sentences, 1), found) << "one at a time";
  std::set<Pieces> different;
  for (const auto& list : found)
    for (const Hypothesis& h : list) different.insert(h.ids);
  EXPECT_GT(different.size(), 30u);
  options.seed = 2;
  EXPECT_NE(draw(options, sentences), found);
}

TEST_F(SamplingTest, DrawsSeveralTranslationsThatDiffer) {
  const auto found = draw({.beam_size = 30, .n_best = 30, .sampling = Sampling::full, .temperature = 3}, {{source}})[0];
  std::set<Pieces> different;
  for (const Hypothesis& h : found) different.insert(h.ids);
  EXPECT_GT(different.size(), 10u);
}

TEST_F(SamplingTest, KeepsToPrefixLengthAndWhatIsForbidden) {
  const SearchOptions options{
      .beam_size = 5, .min_length = 4, .n_best = 5, .sampling = Sampling::full, .temperature = 5};
  const auto found = draw(options, {{source, {5, 5}}})[0];
  ASSERT_EQ(found.size(), 5u);
  for (const Hypothesis& h : found) {
    ASSERT_GE(h.ids.size(), 4u);
    EXPECT_THAT(std::span(h.ids).first(2), testing::ElementsAre(5, 5));
    EXPECT_THAT(h.ids, testing::Each(testing::Gt(eos_id)));
  }
}

}  // namespace
}  // namespace dragoman
