#include <gmock/gmock.h>

#include <set>

#include "backend/registry.h"
#include "decode/scoring.h"
#include "tests/decode/toy_decoding.h"
#include "tests/special_ids.h"

namespace dragoman {
namespace {

using Pieces = ToyDecoding::Pieces;
using testing::Each;
using testing::ElementsAre;

/// Source piece 3 is translated by 4, every other by 3 and 5.
class ShortlistSearch : public testing::Test {
 protected:
  ShortlistSearch() {
    shortlist.first = {eos_id};
    shortlist.begins = {0};
    for (int32_t piece = 0; piece < 60; ++piece) {
      for (const int32_t id : piece == 3 ? Pieces{4} : Pieces{3, 5}) shortlist.best.push_back(id);
      shortlist.begins.push_back(int32_t(shortlist.best.size()));
    }
    shortlist.target_vocabulary = ToyDecoding::vocabulary;
  }

  std::vector<std::vector<Hypothesis>> find(const SearchOptions& options, const std::vector<Sentence>& sentences,
                                            int64_t tokens = 1 << 20, int models = 1) {
    std::vector<Ensemble::Member> members;
    for (int m = 0; m < models; ++m) members.push_back({std::make_unique<ToyDecoding>(1000 + m), 1.0 / models});
    return found_by(Ensemble(cx, std::move(members)), options, sentences, tokens, &shortlist);
  }

  Arena arena;
  Context cx{.backend = backend("cpu"), .arena = arena};
  Shortlist shortlist;
};

std::vector<Sentence> sentences(int count) {
  std::vector<Sentence> sentences;
  for (int i = 0; i < count; ++i) sentences.push_back({Pieces(size_t(i % 7), 3 + i % 50), {}, uint64_t(i)});
  return sentences;
}

// log p of a piece among these.
double log_prob_among(const Pieces& candidates, const std::vector<float>& logits, int32_t id) {
  double sum = 0;
  for (const int32_t c : candidates) sum += std::exp(double(logits[c]));
  return logits[id] - std::log(sum);
}

TEST_F(ShortlistSearch, FindsTheBestOfWhatMayBeSaid) {
  const SearchOptions options{.beam_size = 100, .normalize = 1, .max_length_add = 2};
  const Pieces candidates = {eos_id, 3, 5}, source = {4, eos_id};
  Hypothesis best{.score = -1e9};
  std::vector<Hypothesis> growing = {{}};
  for (int length = 1; length <= 3; ++length) {
    std::vector<Hypothesis> longer;
    for (const Hypothesis& h : growing)
      for (const int32_t id : candidates) {
        Hypothesis next = h;
        next.log_prob += log_prob_among(candidates, ToyDecoding::logits(source, h.ids), id);
        next.score = score(options, next.log_prob, length);
        if (id != eos_id) next.ids.push_back(id);
        if (id != eos_id) longer.push_back(next);
        if ((id == eos_id || length == 3) && next.score > best.score) best = next;
      }
    growing = std::move(longer);
  }
  const auto found = find(options, {{{4}}})[0][0];
  EXPECT_EQ(found.ids, best.ids);
  EXPECT_NEAR(found.log_prob, best.log_prob, 1e-5);
}

// The pieces of both are four, and there is memory for three.
TEST_F(ShortlistSearch, ContinuesWithItsPiecesIfThereIsNoMemoryForMore) {
  const SearchOptions options{.beam_size = 2, .min_length = 3};
  auto toy = std::make_unique<ToyDecoding>();
  toy->most_pieces = 3;
  std::vector<Ensemble::Member> members;
  members.push_back({std::move(toy)});
  Search search(Ensemble(cx, std::move(members)), 1 << 20);
  const auto shared = std::make_shared<const SearchOptions>(options);
  const Constraints constraints = {limited_to(shortlist)};
  std::vector<Hypothesis> first, second;
  search.add({.source = {4, 4}, .constraints = constraints}, shared, Wanted::log_probs,
             [&](std::vector<Hypothesis> best) { first = std::move(best); });
  search.step();
  search.add({.source = {3}, .constraints = constraints}, shared, Wanted::log_probs, [&](std::vector<Hypothesis> best) {
    EXPECT_FALSE(first.empty()) << "it waits until the first has ended";
    second = std::move(best);
  });
  while (!search.idle()) search.step();
  EXPECT_EQ(first, find(options, {{{4, 4}}})[0]);
  EXPECT_EQ(second, find(options, {{{3}}})[0]);
}

TEST_F(ShortlistSearch, SaysNothingElseWhateverStandsBeside) {
  for (const auto sampling : {Sampling::none, Sampling::full, Sampling::topk, Sampling::nucleus}) {
    const auto found = find({.beam_size = 2, .n_best = 2, .sampling = sampling}, sentences(60));
    for (size_t i = 0; i < found.size(); ++i)
      for (const Hypothesis& h : found[i]) {
        if (i % 7 == 0)
          EXPECT_THAT(h.ids, ElementsAre()) << "no source, no candidates but </s>";
        else if (i % 50 == 0)
          EXPECT_THAT(h.ids, Each(4));
        else
          EXPECT_THAT(h.ids, Each(testing::AnyOf(3, 5)));
      }
  }
}

TEST_F(ShortlistSearch, ResultsDoNotDependOnOtherSentencesInFlight) {
  for (const int models : {1, 2})
    for (const auto sampling : {Sampling::none, Sampling::nucleus}) {
      const SearchOptions options{.beam_size = 3, .n_best = 3, .sampling = sampling};
      const auto together = find(options, sentences(60), 1 << 20, models);
      EXPECT_EQ(find(options, sentences(60), 1, models), together);
      EXPECT_EQ(find(options, sentences(60), 20, models), together);
    }
}

TEST_F(ShortlistSearch, BeginsAsItMustAlsoWithOtherPieces) {
  const auto found = find({.beam_size = 2}, {{{4, 4}, {4, 4, 3}}});
  ASSERT_GE(found[0][0].ids.size(), 3u);
  EXPECT_EQ(Pieces(found[0][0].ids.begin(), found[0][0].ids.begin() + 3), (Pieces{4, 4, 3}));
}

TEST_F(ShortlistSearch, WithEveryPieceIsTheSearchWithoutOne) {
  shortlist.first = {0, 1, 2, 3, 4, 5};
  const SearchOptions options{.beam_size = 3, .n_best = 3};
  const auto with = find(options, sentences(30));
  std::vector<Ensemble::Member> members;
  members.push_back({std::make_unique<ToyDecoding>()});
  const auto without = found_by(Ensemble(cx, std::move(members)), options, sentences(30));
  for (size_t i = 0; i < with.size(); ++i)
    for (size_t n = 0; n < 3; ++n) {
      EXPECT_EQ(with[i][n].ids, without[i][n].ids);
      EXPECT_NEAR(with[i][n].log_prob, without[i][n].log_prob, 1e-4);
    }
}

}  // namespace
}  // namespace dragoman
