#include "decode/beam_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "backend/registry.h"
#include "decode/scoring.h"
#include "tests/decode/toy_decoding.h"
#include "tests/special_ids.h"

namespace dragoman {
namespace {

using Pieces = ToyDecoding::Pieces;

constexpr int64_t plenty = 1 << 20;

class BeamSearch : public testing::Test {
 protected:
  std::vector<std::vector<Hypothesis>> find(const SearchOptions& options, const std::vector<Pieces>& sources,
                                            int64_t tokens = plenty, const Phrases& phrases = {}) {
    auto toy = std::make_unique<ToyDecoding>();
    ToyDecoding& observed = *toy;
    std::vector<Ensemble::Member> members;
    members.push_back({std::move(toy)});
    std::vector<std::vector<Hypothesis>> found(sources.size());
    Search search(Ensemble(cx, std::move(members)), tokens);
    const auto shared = std::make_shared<const SearchOptions>(options);
    for (size_t i = 0; i < sources.size(); ++i)
      search.add({.source = sources[i], .phrases = phrases}, shared, Wanted::log_probs,
                 [&, i](std::vector<Hypothesis> best) { found[i] = std::move(best); });
    while (!search.idle()) search.step();
    most_sentences = observed.most_sentences;
    return found;
  }

  Arena arena;
  Context cx{.backend = backend("cpu"), .arena = arena};
  int most_sentences = 0;
};

// Every translation of at most `limit` pieces, best first.
std::vector<Hypothesis> all_translations(const SearchOptions& options, Pieces source, int limit) {
  source.push_back(eos_id);
  std::vector<Hypothesis> all, growing = {{}};
  for (int length = 1; length <= limit; ++length) {
    std::vector<Hypothesis> longer;
    for (const Hypothesis& h : growing) {
      const auto logits = ToyDecoding::logits(source, h.ids);
      for (int32_t id = eos_id; id < ToyDecoding::vocabulary; ++id) {
        Hypothesis next = h;
        next.log_prob += log_prob(logits, id);
        next.length = length;
        next.score = score(options, next.log_prob, length);
        if (id != eos_id) next.ids.push_back(id);
        if (id != eos_id) longer.push_back(next);
        if (id == eos_id || length == limit) all.push_back(next);
      }
    }
    growing = std::move(longer);
  }
  std::ranges::sort(all, std::greater(), &Hypothesis::score);
  return all;
}

std::vector<Pieces> sources(int count) {
  std::vector<Pieces> sources;
  for (int i = 0; i < count; ++i) sources.push_back(Pieces(size_t(i % 7), 3 + i));
  return sources;
}

const SearchOptions scorings[] = {{.normalize = 0},
                                  {.normalize = 0.6},
                                  {.normalize = 1},
                                  {.normalize = 1, .word_penalty = -0.5},
                                  {.normalize = 0, .word_penalty = 0.5},
                                  {.normalize = 0, .length_penalty = 0.6}};

TEST_F(BeamSearch, FindsWhatTryingEverythingFindsWhenTheBeamIsWideEnough) {
  for (SearchOptions options : scorings)
    for (const Pieces& source : {Pieces{3}, Pieces{4}, Pieces{5}}) {
      options.beam_size = 200;  // there are 3^4 + 1 + 3 + 9 + 27 translations
      options.max_length_add = 3;
      for (const int n : {1, 20}) {
        options.n_best = n;
        const auto found = find(options, {source})[0], expected = all_translations(options, source, 4);
        ASSERT_EQ(int(found.size()), n);
        for (int i = 0; i < n; ++i) {
          EXPECT_EQ(found[i].ids, expected[i].ids);
          EXPECT_EQ(found[i].length, expected[i].length);
          EXPECT_NEAR(found[i].log_prob, expected[i].log_prob, 1e-5);
          EXPECT_NEAR(found[i].score, expected[i].score, 1e-5);
        }
      }
    }
}

TEST_F(BeamSearch, NeverBeatsTryingEverything) {
  for (SearchOptions options : scorings)
    for (int beam = 1; beam <= 8; ++beam) {
      options.beam_size = beam;
      options.max_length_add = 3;
      EXPECT_LE(find(options, {{3}})[0][0].score, all_translations(options, {3}, 4)[0].score + 1e-5);
    }
}

TEST_F(BeamSearch, IsGreedyWithABeamOfOne) {
  for (const Pieces& source : sources(30)) {
    Pieces with_end = source, expected;
    with_end.push_back(eos_id);
    while (expected.size() < source.size() + 50) {
      const auto z = ToyDecoding::logits(with_end, expected);
      const auto best = int32_t(std::max_element(z.begin() + eos_id, z.end()) - z.begin());
      if (best == eos_id) break;
      expected.push_back(best);
    }
    EXPECT_EQ(find({.beam_size = 1}, {source})[0][0].ids, expected);
  }
}

TEST_F(BeamSearch, LosesNothingByStoppingEarly) {  // all of the beam as n best lists cannot stop early
  for (SearchOptions options : scorings) {
    options.beam_size = 4;
    SearchOptions whole = options;
    whole.n_best = 4;
    const auto best = find(options, sources(40)), lists = find(whole, sources(40));
    for (size_t i = 0; i < best.size(); ++i) {
      EXPECT_EQ(lists[i].size(), 4u);
      EXPECT_EQ(best[i][0], lists[i][0]);
      EXPECT_TRUE(std::ranges::is_sorted(lists[i], std::greater(), &Hypothesis::score));
    }
  }
}

TEST_F(BeamSearch, KeepsToTheLimitOfLength) {
  const SearchOptions options{.beam_size = 3, .normalize = 5, .max_length_factor = 1.5, .n_best = 3};
  for (const auto& list : find(options, {Pieces(5, 4)}))
    for (const Hypothesis& h : list) EXPECT_LE(h.ids.size(), 8u);  // ⌈7.5⌉
}

TEST_F(BeamSearch, FindsTheBestOfThoseThatAreLongEnough) {
  for (SearchOptions options : scorings) {
    options.beam_size = 200;
    options.max_length_add = 3;
    options.min_length = 2;
    auto expected = all_translations(options, {3}, 4);
    std::erase_if(expected, [](const Hypothesis& h) { return h.ids.size() < 2; });
    EXPECT_EQ(find(options, {{3}})[0][0].ids, expected[0].ids);
  }
}

TEST_F(BeamSearch, MakesEveryTranslationAsLongAsItMustBe) {
  for (const int beam : {1, 4}) {
    const SearchOptions options{
        .beam_size = beam, .max_length_factor = 1, .min_length = 1000, .n_best = beam};  // the limit wins
    const auto found = find(options, sources(20));
    for (size_t i = 0; i < found.size(); ++i)
      for (const Hypothesis& h : found[i]) EXPECT_EQ(h.ids.size(), std::max<size_t>(1, sources(20)[i].size()));
  }
}

TEST_F(BeamSearch, NeverRepeatsWhatItMustNotRepeat) {
  const SearchOptions options{.beam_size = 3, .min_length = 12, .no_repeat_ngram = 2, .n_best = 3};
  for (const auto& list : find(options, sources(20)))
    for (const Hypothesis& h : list) {
      std::set<std::pair<int32_t, int32_t>> seen;
      for (size_t i = 1; i < h.ids.size(); ++i) EXPECT_TRUE(seen.insert({h.ids[i - 1], h.ids[i]}).second);
    }
}

TEST_F(BeamSearch, EndsWhereNothingMayFollow) {  // three pieces that may each come once, and no end before twelve
  const SearchOptions options{.beam_size = 3, .min_length = 12, .no_repeat_ngram = 1, .n_best = 3};
  for (const auto& list : find(options, sources(20))) {
    ASSERT_EQ(list.size(), 3u);
    for (const Hypothesis& h : list) EXPECT_EQ(std::set(h.ids.begin(), h.ids.end()), (std::set<int32_t>{3, 4, 5}));
  }
}

TEST_F(BeamSearch, GivesTheLogProbabilityOfEachPiece) {
  for (const auto& list : find({.beam_size = 3, .n_best = 3}, sources(20)))
    for (const Hypothesis& h : list) {
      EXPECT_EQ(int(h.piece_log_probs.size()), h.length);
      EXPECT_NEAR(std::accumulate(h.piece_log_probs.begin(), h.piece_log_probs.end(), 0.0), h.log_prob, 1e-5);
    }
}

TEST_F(BeamSearch, ResultsDoNotDependOnOtherSentencesInFlight) {
  const SearchOptions options{.beam_size = 3, .n_best = 3};
  const auto together = find(options, sources(60));
  EXPECT_EQ(most_sentences, 60);
  EXPECT_EQ(find(options, sources(60), 1), together);
  EXPECT_EQ(most_sentences, 1);
  EXPECT_EQ(find(options, sources(60), 50), together);
}

TEST_F(BeamSearch, KeepsTheTokenBudget) {
  for (const int beam : {1, 2, 10}) {
    find({.beam_size = beam}, std::vector<Pieces>(50, Pieces(4, 3)), 5 * 7);  // a sentence: 4 and </s>
    EXPECT_EQ(most_sentences, 7) << "beam " << beam;
  }
}

TEST_F(BeamSearch, BoundsHypothesesWhereTheBeamIsWide) {
  find({.beam_size = 40}, std::vector<Pieces>(50, Pieces(4, 3)), 60);  // 3 × 40 are 2 × 60
  EXPECT_EQ(most_sentences, 3);
  find({.beam_size = 40}, std::vector<Pieces>(5, Pieces(4, 3)), 19);
  EXPECT_EQ(most_sentences, 1) << "one runs alone, however wide";
}

// Two pieces of a phrase make a beam of 2 one of 4, and a sentence of 5 tokens one of 10.
TEST_F(BeamSearch, CountsTheHypothesesThatPhrasesAdd) {
  find({.beam_size = 2}, std::vector<Pieces>(50, Pieces(4, 3)), 35, {{{3, 4}}});
  EXPECT_EQ(most_sentences, 3);
}

TEST_F(BeamSearch, TranslatesNothingAtAll) { EXPECT_TRUE(find({}, {}).empty()); }

}  // namespace
}  // namespace dragoman
