#include "data/batches.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "tests/data/toy_corpus.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

DataOptions budget(int64_t words, int64_t pairs = 0, int64_t maxi_batch = 1000) {
  DataOptions options;
  options.mini_batch_words = words;
  options.mini_batch = pairs;
  options.maxi_batch = maxi_batch;
  return options;
}

DataOptions unshuffled(DataOptions options) {
  options.no_shuffle = true;
  return options;
}

std::array<int64_t, 2> tokens(const Corpus& corpus, std::span<const int32_t> batch) {
  std::array<int64_t, 2> sums = {0, 0};
  for (int32_t pair : batch) {
    sums[0] += corpus.pairs.source_length(pair);
    sums[1] += corpus.pairs.target_length(pair);
  }
  return sums;
}

std::vector<std::vector<int32_t>> batches_of(const BatchPlan& plan) {
  std::vector<std::vector<int32_t>> batches;
  for (int64_t b = 0; b < plan.size(); ++b) batches.emplace_back(plan[b].pairs.begin(), plan[b].pairs.end());
  return batches;
}

TEST(BatchPlan, HoldsEveryPairExactlyOnce) {
  const auto corpus = random_corpus(1000);
  for (const DataOptions& options : {budget(200), budget(200, 3), budget(0, 7), budget(1), budget(1'000'000),
                                     budget(200, 0, 1), budget(200, 0, 3), unshuffled(budget(200))}) {
    std::vector<int32_t> pairs = plan_batches(*corpus, options, 1, 4).pairs;
    std::sort(pairs.begin(), pairs.end());
    ASSERT_EQ(pairs.size(), 1000u);
    for (int32_t i = 0; i < 1000; ++i) ASSERT_EQ(pairs[i], i);
  }
}

TEST(BatchPlan, KeepsItsBudgets) {
  const auto corpus = random_corpus(1000);
  const BatchPlan plan = plan_batches(*corpus, budget(200, 9), 1, 0);
  for (int64_t b = 0; b < plan.size(); ++b) {
    EXPECT_LE(plan[b].pairs.size(), 9u);
    const auto [source, target] = tokens(*corpus, plan[b].pairs);
    EXPECT_LE(target, 200);
    EXPECT_LE(source, 400);
  }
}

// With one window sorted by target length, only what the next sentence would exceed may stay free in a batch.
TEST(BatchPlan, FillsBatches) {
  const auto corpus = random_corpus(2000);
  const BatchPlan plan = plan_batches(*corpus, budget(400), 1, 0);
  const double filled = double(corpus->pairs.target_tokens()) / double(plan.size() * 400);
  EXPECT_GT(filled, 0.9);
}

TEST(BatchPlan, CutsWhereTheNextPairWouldExceedALimit) {
  // Target budget 10, so at most 20 source tokens.
  const auto by_target = toy_corpus({{3, 5}, {3, 5}, {3, 1}, {3, 9}});
  EXPECT_THAT(batches_of(plan_batches(*by_target, unshuffled(budget(10)), 1, 0)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  const auto by_source = toy_corpus({{12, 2}, {8, 2}, {1, 2}, {20, 2}});
  EXPECT_THAT(batches_of(plan_batches(*by_source, unshuffled(budget(10)), 1, 0)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(batches_of(plan_batches(*by_source, unshuffled(budget(0, 3)), 1, 0)),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3)));
}

TEST(BatchPlan, GivesAPairBeyondTheBudgetABatchOfItsOwn) {
  const auto corpus = toy_corpus({{2, 2}, {2, 50}, {2, 2}, {90, 2}, {2, 2}});
  EXPECT_THAT(batches_of(plan_batches(*corpus, unshuffled(budget(10)), 1, 0)),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3), ElementsAre(4)));
}

TEST(BatchPlan, PutsSentencesOfSimilarLengthTogether) {
  const auto corpus = random_corpus(1000);
  const BatchPlan plan = plan_batches(*corpus, budget(0, 10), 1, 0);  // one window
  auto batches = batches_of(plan);
  const auto length = [&](int32_t pair) {
    return std::pair(corpus->pairs.target_length(pair), corpus->pairs.source_length(pair));
  };
  std::sort(batches.begin(), batches.end(), [&](auto& a, auto& b) {
    return std::pair(length(a.front()), length(a.back())) < std::pair(length(b.front()), length(b.back()));
  });
  std::vector<std::pair<int64_t, int64_t>> lengths;
  for (const auto& batch : batches)
    for (int32_t pair : batch) lengths.push_back(length(pair));
  EXPECT_TRUE(std::is_sorted(lengths.begin(), lengths.end()));
}

// Two windows of 4 x 5 pairs: long sentences of the first window do not move to the second.
TEST(BatchPlan, SortsOnlyInsideAWindow) {
  const auto corpus = random_corpus(40);
  const BatchPlan plan = plan_batches(*corpus, budget(0, 5, 4), 1, 0);
  const BatchPlan unsorted = plan_batches(*corpus, budget(0, 1, 1), 1, 0);  // windows of one pair: the shuffled order
  for (int begin : {0, 20}) {
    const auto first = plan.pairs.begin() + begin, shuffled = unsorted.pairs.begin() + begin;
    EXPECT_THAT(std::vector(first, first + 20), testing::UnorderedElementsAreArray(shuffled, shuffled + 20));
  }
}

TEST(BatchPlan, IsAFunctionOfSeedAndEpoch) {
  const auto corpus = random_corpus(300);
  const auto pairs = [&](uint64_t seed, int64_t epoch) {
    return plan_batches(*corpus, budget(100), seed, epoch).pairs;
  };
  EXPECT_EQ(pairs(1, 0), pairs(1, 0));
  EXPECT_NE(pairs(1, 0), pairs(2, 0));
  EXPECT_NE(pairs(1, 0), pairs(1, 1));
}

TEST(BatchPlan, WithoutShufflingKeepsTheOrderOfTheCorpus) {
  const auto corpus = random_corpus(100);
  const BatchPlan plan = plan_batches(*corpus, unshuffled(budget(50)), 1, 3);
  EXPECT_TRUE(std::is_sorted(plan.pairs.begin(), plan.pairs.end()));
}

TEST(BatchPlan, OfOnePairIsOneBatch) {
  EXPECT_THAT(batches_of(plan_batches(*toy_corpus({{4, 3}}), budget(100), 1, 0)), ElementsAre(ElementsAre(0)));
}

TEST(BatchPlan, OfNothingHasNoBatches) { EXPECT_EQ(plan_batches(Corpus{}, budget(100), 1, 0).size(), 0); }

TEST(BatchPlan, NeedsALimit) {
  EXPECT_THAT([] { plan_batches(*random_corpus(2), budget(0), 1, 0); },
              ThrowsMessage<Error>(HasSubstr("--mini-batch-words 0 and --mini-batch 0")));
}

TEST(BatchPlan, FindsItsLargestBatches) {
  const auto corpus = toy_corpus({{2, 4}, {2, 4}, {12, 1}, {3, 9}});  // batches {0, 1}, {2}, {3} of 8, 1, 9 targets
  const BatchPlan plan = plan_batches(*corpus, unshuffled(budget(8)), 1, 0);
  ASSERT_EQ(plan.size(), 3);
  EXPECT_THAT(largest_batches(*corpus, plan), ElementsAre(1, 2));
  const auto longer = toy_corpus({{2, 4}, {2, 4}, {5, 5}, {1, 7}, {6, 2}});
  const BatchPlan other = plan_batches(*longer, unshuffled(budget(8)), 1, 0);
  ASSERT_EQ(other.size(), 4);  // the most tokens, the largest product, the longest target, the longest source
  EXPECT_THAT(largest_batches(*longer, other), ElementsAre(0, 1, 2, 3));
}

// A corpus of three texts with 1,000, 400 and 2 pairs.
struct Weighted {
  explicit Weighted(std::vector<double> weights) : corpus(random_corpus(1402)) {
    corpus->ends = {1000, 1400, 1402};
    corpus->files.weights = std::move(weights);
  }
  // How often each pair is met in an epoch.
  std::vector<int> counts(int64_t epoch, uint64_t seed = 1) const {
    std::vector<int> met(1402);
    for (int32_t pair : plan_batches(*corpus, options, seed, epoch).pairs) ++met[pair];
    return met;
  }
  std::shared_ptr<Corpus> corpus;
  DataOptions options = budget(200);
};

TEST(CorpusWeights, OfWholeNumbersSayHowOftenEachPairIsMet) {
  const Weighted w({1, 0, 3});
  std::vector<int> expected(1000, 1);
  expected.resize(1400, 0);
  expected.resize(1402, 3);
  EXPECT_EQ(w.counts(0), expected);
  EXPECT_EQ(w.counts(7), expected);
  EXPECT_EQ(pairs_an_epoch(*w.corpus), 1006);
}

TEST(CorpusWeights, OfOneAreTheSameAsNone) {
  const Weighted ones({1, 1, 1}), none({});
  EXPECT_EQ(plan_batches(*ones.corpus, ones.options, 1, 2).pairs, plan_batches(*none.corpus, none.options, 1, 2).pairs);
}

// 0.25 of 1,000: a standard deviation of 14. 2.5 of 400: of 10 about 1,000.
TEST(CorpusWeights, OfFractionsAreDrawnAnewInEachEpochAndAreAFunctionOfItAndTheSeed) {
  const Weighted w({0.25, 2.5, 0});
  EXPECT_EQ(w.counts(3), w.counts(3));
  EXPECT_NE(w.counts(3), w.counts(4));
  EXPECT_NE(w.counts(3), w.counts(3, 2));
  EXPECT_EQ(pairs_an_epoch(*w.corpus), 1250);
  std::vector<int> sums(1402);
  for (int epoch = 0; epoch < 100; ++epoch) {
    const std::vector<int> met = w.counts(epoch);
    EXPECT_NEAR(std::accumulate(met.begin(), met.begin() + 1000, 0), 250, 70);
    EXPECT_NEAR(std::accumulate(met.begin() + 1000, met.end(), 0), 1000, 50);
    for (int i = 0; i < 1400; ++i) {
      EXPECT_TRUE(i < 1000 ? met[i] <= 1 : met[i] == 2 || met[i] == 3);
      sums[i] += met[i];
    }
  }
  for (int i = 0; i < 1000; ++i) EXPECT_NEAR(sums[i], 25, 22) << i;  // over the epochs every pair has its share
}

TEST(CorpusWeights, LeaveNoEpochEmpty) {
  const Weighted w({0, 0, 1e-9});
  EXPECT_EQ(plan_batches(*w.corpus, w.options, 1, 0).pairs, std::vector<int32_t>{1400});
  Weighted nothing({0, 0, 1});
  nothing.corpus->ends = {1000, 1402, 1402};
  EXPECT_THAT([&] { plan_batches(*nothing.corpus, nothing.options, 1, 0); },
              ThrowsMessage<Error>(HasSubstr("no sentence pair is left in the corpora whose --corpus-weights")));
  EXPECT_EQ(pairs_an_epoch(*w.corpus), 1);
}

// Batches of one pair in windows of one batch: the plan is the shuffled order.
TEST(CorpusWeights, UseUpACorpusBeforeAnyOfItsPairsIsUsedAgain) {
  Weighted w({1, 2.5, 0});
  w.options = budget(0, 1, 1);
  for (const bool no_shuffle : {false, true}) {
    w.options.no_shuffle = no_shuffle;
    std::vector<int32_t> own;
    for (const int32_t pair : plan_batches(*w.corpus, w.options, 1, 0).pairs)
      if (pair >= 1000) own.push_back(pair);
    const auto pass = [&](int64_t begin) { return std::vector(own.begin() + begin, own.begin() + begin + 400); };
    EXPECT_EQ(pass(0) == pass(400), no_shuffle);
    EXPECT_THAT(pass(0), testing::UnorderedElementsAreArray(pass(400)));
    EXPECT_EQ(std::set(own.begin(), own.begin() + 400).size(), 400u);
    EXPECT_EQ(std::set(own.begin() + 800, own.end()).size(), own.size() - 800);
  }
}

TEST(CorpusWeights, LetCorporaMixWhateverTheirPasses) {
  Weighted w({1, 3, 0});
  w.options = budget(0, 1, 1);
  const auto pairs = plan_batches(*w.corpus, w.options, 1, 0).pairs;
  const auto first_corpus = [](int32_t pair) { return pair < 1000; };
  EXPECT_NEAR(std::count_if(pairs.begin(), pairs.begin() + 1100, first_corpus), 500, 60);  // of 2,200: 4 deviations
}

TEST(CorpusWeights, GiveCopiesOfAPairMasksOfTheirOwn) {
  const Weighted w({1, 0, 3}), none({});
  const BatchPlan plan = plan_batches(*w.corpus, w.options, 1, 0);
  std::map<int32_t, std::set<int32_t>> sentences;
  for (int64_t b = 0; b < plan.size(); ++b) {
    const Batch batch = assemble(*w.corpus, plan[b]);
    for (size_t i = 0; i < batch.sentences.size(); ++i) sentences[plan[b].pairs[i]].insert(batch.sentences[i]);
  }
  std::set<int32_t> all;
  for (const auto& [pair, own] : sentences) {
    EXPECT_EQ(own.size(), pair < 1000 ? 1u : 3u) << pair;
    EXPECT_EQ(*own.begin(), 10 * pair);  // the first is numbered by its line
    all.insert(own.begin(), own.end());
  }
  EXPECT_EQ(all.size(), 1006u);
  EXPECT_TRUE(plan_batches(*none.corpus, none.options, 1, 0).copies.empty());
}

TEST(Assemble, LaysSentencesEndToEndAndKeepsTheirLineNumbers) {
  const auto corpus = toy_corpus({{2, 3}, {3, 1}, {1, 2}});
  const Batch batch = assemble(*corpus, {std::vector<int32_t>{2, 0}});
  EXPECT_THAT(batch.source.ids, ElementsAre(2, 100, 2));
  EXPECT_THAT(batch.target.ids, ElementsAre(102, 2, 100, 100, 2));
  EXPECT_THAT(batch.sentences, ElementsAre(20, 0));
  ASSERT_EQ(batch.source.spans.sentences(), 2);
  EXPECT_EQ(batch.source.spans[1].begin, 1);
  EXPECT_EQ(batch.target.spans[1].begin, 2);
  EXPECT_EQ(batch.target.spans.rows(), 5);
  EXPECT_EQ(batch.target.spans.longest(), 3);
  EXPECT_EQ(batch.target_weight(), 5);
  EXPECT_FALSE(batch.row_weights(batch.target.spans));
}

TEST(Assemble, GivesEachTargetTokenTheWeightOfItsSentence) {
  Corpus corpus;
  corpus.pairs = PairStore(true);
  corpus.pairs.add({0, std::vector{5, 2}, std::vector{6, 6, 2}, 0.5f});
  corpus.pairs.add({1, std::vector{5, 2}, std::vector{6, 2}, 4});
  const Batch batch = assemble(corpus, {std::vector<int32_t>{1, 0}});
  EXPECT_THAT(batch.weights, ElementsAre(4, 0.5));
  const Tensor rows = batch.row_weights(batch.target.spans);
  EXPECT_THAT(std::vector(rows.as<float>(), rows.as<float>() + rows.elements()), ElementsAre(4, 4, 0.5, 0.5, 0.5));
  EXPECT_EQ(batch.target_weight(), 9.5);
}

std::vector<std::vector<int32_t>> lines_of(const std::vector<Batch>& parts) {
  std::vector<std::vector<int32_t>> lines;
  for (const Batch& part : parts) lines.push_back(part.sentences);
  return lines;
}

// Pairs of 2 and 3, 3 and 1, 1 and 2 tokens: on the longer side 3, then 5, then 6; the last two alone 4.
TEST(PartsOf, FillsEachPartAsFarAsTheLongerSideLetsIt) {
  const auto corpus = toy_corpus({{2, 3}, {3, 1}, {1, 2}});
  const Batch batch = assemble(*corpus, {std::vector<int32_t>{0, 1, 2}});
  using Lines = std::vector<std::vector<int32_t>>;
  EXPECT_EQ(lines_of(micro_batches_of(batch, 6)), (Lines{{0, 10, 20}}));
  EXPECT_EQ(lines_of(micro_batches_of(batch, 5)), (Lines{{0, 10}, {20}}));
  EXPECT_EQ(lines_of(micro_batches_of(batch, 4)), (Lines{{0}, {10, 20}}));
  EXPECT_EQ(lines_of(micro_batches_of(batch, 1)), (Lines{{0}, {10}, {20}}));
}

// Seven pairs of 3 and 3 tokens, 21 on a side, are three parts of at most 10. A third of all 42 is 14: three pairs have
// it, five have two thirds.
TEST(EvenPartsOf, LeavesNoSmallPartAtTheEnd) {
  const auto corpus = toy_corpus(std::vector<std::array<int, 2>>(7, {3, 3}));
  const Batch batch = assemble(*corpus, {std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6}});
  using Lines = std::vector<std::vector<int32_t>>;
  EXPECT_EQ(lines_of(micro_batches_of(batch, 10)), (Lines{{0, 10, 20}, {30, 40, 50}, {60}}));
  EXPECT_EQ(lines_of(even_micro_batches_of(batch, 10)), (Lines{{0, 10, 20}, {30, 40}, {50, 60}}));
  EXPECT_EQ(lines_of(even_micro_batches_of(batch, 21)), (Lines{{0, 10, 20, 30, 40, 50, 60}}));
  EXPECT_EQ(even_micro_batches_of(batch, 1).size(), 7u);
  EXPECT_TRUE(even_micro_batches_of(Batch{}, 3).empty());
}

// The first pairs have long sources, the last long targets, so that half of all tokens exceeds the limit of a side.
TEST(EvenPartsOf, KeepEachSideWithinTheLimitUpToASentence) {
  const auto corpus = toy_corpus({{8, 2}, {8, 2}, {8, 2}, {8, 2}, {2, 8}, {2, 8}, {2, 8}, {2, 8}});
  const Batch batch = assemble(*corpus, {std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}});
  int64_t sentences = 0;
  for (const Batch& part : even_micro_batches_of(batch, 20)) {
    EXPECT_LT(part.source.spans.rows(), 20 + 8);
    EXPECT_LT(part.target.spans.rows(), 20 + 8);
    sentences += part.target.spans.sentences();
  }
  EXPECT_EQ(sentences, 8);
}

TEST(PartsOf, KeepsEveryTokenAndWeightWhereItWas) {
  Corpus corpus;
  corpus.pairs = PairStore(true);
  corpus.pairs.add({0, std::vector{5, 2}, std::vector{6, 6, 2}, 0.5f});
  corpus.pairs.add({1, std::vector{7, 2}, std::vector{8, 2}, 4});
  const auto parts = micro_batches_of(assemble(corpus, {std::vector<int32_t>{0, 1}}), 3);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(parts[1].source.ids, ElementsAre(7, 2));
  EXPECT_THAT(parts[1].target.ids, ElementsAre(8, 2));
  EXPECT_EQ(parts[1].target.spans[0].begin, 0);
  EXPECT_EQ(parts[1].target.spans.rows(), 2);
  EXPECT_THAT(parts[0].weights, ElementsAre(0.5));
  EXPECT_THAT(parts[1].weights, ElementsAre(4));
  EXPECT_TRUE(micro_batches_of(Batch{}, 3).empty());
}

}  // namespace
}  // namespace dragoman
