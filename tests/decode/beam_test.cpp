#include "decode/beam.h"
#include "tests/decode/letters.h"

#include <gmock/gmock.h>

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr int32_t eos = 2;

const Sentence four_pieces{{a, a, b, b}}, two_pieces{{a, b}};

// Possible next pieces of a hypothesis, with their log-probabilities.
struct Row {
  std::vector<float> log_probs;
  std::vector<int32_t> ids;
};

void advance(Beam& beam, const std::vector<Row>& rows) {
  std::vector<std::vector<Continuation>> continuations;
  for (const Row& r : rows) {
    auto& row = continuations.emplace_back();
    for (size_t i = 0; i < r.ids.size(); ++i) row.push_back({r.ids[i], r.log_probs[i], {}});
  }
  beam.advance(continuations);
}

std::vector<int32_t> tokens(const Beam& beam) {
  std::vector<int32_t> tokens;
  for (const auto& live : beam.live()) tokens.push_back(live.token);
  return tokens;
}

TEST(Beam, BeginsWithOneHypothesisThatHasNoPiece) {
  const SearchOptions options;
  const Beam beam(options, four_pieces);
  ASSERT_THAT(beam.live(), SizeIs(1));
  EXPECT_EQ(beam.live()[0].parent, -1);
  EXPECT_EQ(beam.live()[0].token, -1);
}

TEST(Beam, ContinuesTheMostProbableOverAllHypotheses) {
  const SearchOptions options{.beam_size = 2};
  Beam beam(options, four_pieces);
  advance(beam, {{{-0.5, -1, -3}, {a, b, eos}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a, b));
  advance(beam, {{{-4, -5}, {a, b}}, {{-1, -2}, {b, a}}});  // sums: -4.5 -5.5 -2 -3
  EXPECT_THAT(tokens(beam), ElementsAre(b, a));
  EXPECT_EQ(beam.live()[0].parent, 1);
  EXPECT_EQ(beam.live()[1].parent, 1);
  EXPECT_DOUBLE_EQ(beam.live()[0].log_prob, -2);
}

TEST(Beam, IsNarrowerByOneForEachHypothesisThatEnded) {
  const SearchOptions options{.beam_size = 2, .n_best = 2};
  Beam beam(options, four_pieces);
  advance(beam, {{{-0.5, -1, -3}, {a, eos, b}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a));
  advance(beam, {{{-0.25, -2, -3}, {b, eos, a}}});
  EXPECT_THAT(tokens(beam), ElementsAre(b));
  advance(beam, {{{-0.25, -2, -3}, {eos, b, a}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(),
              ElementsAre(Hypothesis{{a, b}, -1, -1.0 / 3, 3, {-0.5, -0.25, -0.25}}, Hypothesis{{}, -1, -1, 1, {-1}}));
}

TEST(Beam, TakesTheLowerHypothesisAndIdOfEqualOnes) {
  const SearchOptions options{.beam_size = 2};
  Beam beam(options, four_pieces);
  advance(beam, {{{-1, -1, -1}, {a, b, eos}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a));  // </s> has the lowest id, then a
  advance(beam, {{{-1, -1, -1}, {b, a, 5}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a));
}

TEST(Beam, ForbidsBeginOfSentenceAndUnknownPiecesUnlessTheyAreAllowed) {
  const SearchOptions strict, lenient{.allow_unk = true};
  EXPECT_THAT(Beam(strict, four_pieces).requests()[0].allowed->ids, ElementsAre(0, 1));
  EXPECT_THAT(Beam(lenient, four_pieces).requests()[0].allowed->ids, ElementsAre(1));
}

TEST(Beam, ForbidsTheEndUntilATranslationIsLongEnough) {
  const SearchOptions options{.beam_size = 1, .min_length = 1, .min_length_factor = 0.5};  // 2 of 4 pieces
  Beam beam(options, four_pieces);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(beam.requests()[0].allowed->ids, ElementsAre(0, 1, eos));
    advance(beam, {{{-1}, {a}}});
  }
  EXPECT_THAT(beam.requests()[0].allowed->ids, ElementsAre(0, 1));
}

TEST(Beam, ForbidsWhatWouldRepeatSomePieces) {
  const SearchOptions options{.beam_size = 1, .no_repeat_ngram = 2};
  Beam beam(options, four_pieces);
  for (const int32_t id : {a, b, a}) advance(beam, {{{-1}, {id}}});
  EXPECT_THAT(beam.requests()[0].allowed->ids, ElementsAre(0, 1, b));
}

TEST(Beam, ForcesThePrefixAndThenNothing) {
  const SearchOptions options{.beam_size = 2, .max_length_factor = 0.1, .min_length = 3};
  Beam beam(options, {{a, b}, {b, a}});
  for (const int32_t id : {b, a}) {
    ASSERT_THAT(beam.live(), SizeIs(1));
    EXPECT_TRUE(beam.requests()[0].allowed->only);
    EXPECT_THAT(beam.requests()[0].allowed->ids, ElementsAre(id));
    advance(beam, {{{-2}, {id}}});
  }
  EXPECT_FALSE(beam.requests()[0].allowed->only);
  advance(beam, {{{-1, -3}, {eos, a}}});  // the limit is moved past the prefix
  ASSERT_THAT(beam.best(), SizeIs(1));
  EXPECT_THAT(beam.best()[0].ids, ElementsAre(b, a));
  EXPECT_EQ(beam.best()[0].log_prob, -5);
}

TEST(Beam, SharesItsWidthAmongHypotheses) {
  const SearchOptions options{.beam_size = 3};
  Beam beam(options, four_pieces);
  EXPECT_EQ(beam.requests()[0].share, 3);
  advance(beam, {{{-1, -2, -3}, {a, b, eos}}});
  ASSERT_THAT(beam.requests(), SizeIs(2));
  for (const RowRequest& r : beam.requests()) {
    EXPECT_EQ(r.positions, 2);
    EXPECT_EQ(r.share, 1);
  }
}

TEST(Beam, GivesEachDrawItsOwnNumbers) {
  const SearchOptions options{.beam_size = 2};
  Beam beam(options, {{a}, {}, (uint64_t{7} << 32) + 5, 3});
  EXPECT_EQ(beam.requests()[0].draw, (PhiloxCounter{5, 7 ^ 3 << 16, 0, 0}));
  advance(beam, {{{-1, -2}, {a, b}}});
  EXPECT_EQ(beam.requests()[0].draw, (PhiloxCounter{5, 7 ^ 3 << 16, 1, 0}));
  EXPECT_EQ(beam.requests()[1].draw, (PhiloxCounter{5, 7 ^ 3 << 16, 1, 1}));
}

TEST(Beam, EndsWhereNoPieceMayFollow) {
  const SearchOptions options{.beam_size = 1};
  Beam beam(options, four_pieces);
  advance(beam, {{{-1}, {a}}});
  advance(beam, {{{}, {}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(), ElementsAre(Hypothesis{{a}, -1, -1, 1, {-1}}));
}

TEST(Beam, EndsAHypothesisThatNoPieceMayFollowWhileOthersContinue) {
  const SearchOptions options{.beam_size = 3, .n_best = 3};
  Beam beam(options, four_pieces);
  advance(beam, {{{-1, -2, -3}, {a, b, 5}}});
  advance(beam, {{{}, {}}, {{-1, -4}, {a, b}}, {{-1}, {b}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a, b)) << "the beam is narrower by one";
  EXPECT_EQ(beam.live()[0].parent, 1);
  advance(beam, {{{-1}, {eos}}, {{}, {}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(),
              ElementsAre(Hypothesis{{a}, -1, -1, 1, {-1}}, Hypothesis{{b, a}, -4, -4.0 / 3, 3, {-2, -1, -1}},
                          Hypothesis{{5, b}, -4, -2, 2, {-3, -1}}));
}

TEST(Beam, MayEndBeforeItsFirstPiece) {
  const SearchOptions options{.beam_size = 2};
  Beam beam(options, four_pieces);
  advance(beam, {{{}, {}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(), ElementsAre(Hypothesis{{}, 0, 0, 1}));
}

TEST(Beam, AddsUpWhatEachModelSays) {
  const SearchOptions options{.beam_size = 1};
  Beam beam(options, four_pieces);
  beam.advance(std::vector<std::vector<Continuation>>{{{a, -1, {-0.5, -1.5}}}});
  beam.advance(std::vector<std::vector<Continuation>>{{{eos, -2, {-3, -1}}}});
  EXPECT_THAT(beam.best()[0].by_model, ElementsAre(-3.5, -2.5));
}

TEST(Beam, TakesHypothesesAsTheyAreAtTheLimitOfLength) {
  const SearchOptions options{.beam_size = 1, .max_length_add = 0};
  Beam beam(options, two_pieces);
  advance(beam, {{{-1, -2}, {a, b}}});
  advance(beam, {{{-1, -2}, {b, a}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(), ElementsAre(Hypothesis{{a, b}, -2, -1, 2, {-1, -1}}));
}

TEST(Beam, StopsWhenNothingCanBecomeBetter) {
  const SearchOptions options{.beam_size = 3, .normalize = 0};
  Beam beam(options, four_pieces);
  advance(beam, {{{-0.1f, -3, -4}, {eos, a, b}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(), SizeIs(1));
}

TEST(Beam, ContinuesWhileALongerTranslationCanBecomeBetter) {
  const SearchOptions options{.beam_size = 3, .normalize = 1};  // -3 over ten pieces is more than -1
  Beam beam(options, four_pieces);
  advance(beam, {{{-1, -3, -4}, {eos, a, b}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a, b));
}

// Golden searches of transformers are in tests/interop.
TEST(BeamByOtherRules, StaysAsWideWhenAHypothesisEnds) {
  const SearchOptions options{.beam_size = 2, .rule = SearchRule::ctranslate2, .n_best = 2};
  Beam beam(options, four_pieces);
  EXPECT_EQ(beam.requests()[0].positions, 4);
  advance(beam, {{{-0.5, -1, -3, -4}, {a, eos, b, 5}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a, b));
}

TEST(BeamByOtherRules, LetsOnlyTheFirstHalfEnd) {
  for (const SearchRule rule : {SearchRule::huggingface, SearchRule::fairseq, SearchRule::ctranslate2}) {
    const SearchOptions options{.beam_size = 2, .rule = rule};
    Beam beam(options, four_pieces);
    advance(beam, {{{-0.5, -1, -3, -4}, {a, b, eos, 5}}});
    EXPECT_THAT(tokens(beam), ElementsAre(a, b));
    EXPECT_THAT(beam.best(), SizeIs(0));
  }
}

// By Hugging Face's rule a worse one that still runs may have become better by its length; fairseq has what it wants.
TEST(BeamByOtherRules, IsOverWhenEnoughHaveEndedOrNothingCanBecomeBetter) {
  for (const auto& [rule, live] : {std::pair(SearchRule::huggingface, 2), std::pair(SearchRule::huggingface_early, 0),
                                   std::pair(SearchRule::fairseq, 0), std::pair(SearchRule::ctranslate2, 0)}) {
    const SearchOptions options{.beam_size = 2, .rule = rule, .normalize = 1};
    Beam beam(options, four_pieces);
    advance(beam, {{{-1, -1.1f, -1.2f, -1.3f}, {a, eos, b, 5}}});
    advance(beam, {{{-4, -0.1f, -9, -9}, {eos, a, b, 5}}, {{-0.05f, -9, -9, -9}, {eos, a, b, 5}}});
    EXPECT_EQ(int(beam.live().size()), live) << name_of(rule);
  }
}

TEST(BeamByOtherRules, ForcesAnEndAtTheLimitWhichCostsNothingInTransformers) {
  for (const auto& [rule, log_prob] :
       {std::pair(SearchRule::huggingface, -1.0), std::pair(SearchRule::fairseq, -8.0)}) {
    const SearchOptions options{.beam_size = 2, .rule = rule, .max_length_add = -1, .n_best = 2};
    Beam beam(options, two_pieces);
    advance(beam, {{{-1, -3, -4, -5}, {a, b, 5, 6}}});
    EXPECT_TRUE(beam.requests()[0].allowed->only);
    EXPECT_THAT(beam.requests()[0].allowed->ids, ElementsAre(eos));
    advance(beam, {{{-7}, {eos}}, {{-7}, {eos}}});
    EXPECT_THAT(beam.live(), SizeIs(0));
    ASSERT_THAT(beam.best(), SizeIs(2));
    EXPECT_EQ(beam.best()[0].log_prob, log_prob);
    EXPECT_THAT(beam.best()[0].ids, ElementsAre(a));
  }
}

// The </s> that is forced is none of the pieces that the limits count.
TEST(BeamByOtherRules, HasTranslationsOfTheGreatestLength) {
  for (const SearchRule rule : {SearchRule::huggingface, SearchRule::huggingface_early, SearchRule::fairseq}) {
    SCOPED_TRACE(name_of(rule));
    const SearchOptions options{.beam_size = 2, .rule = rule, .max_length_add = 0, .min_length_factor = 1, .n_best = 2};
    Beam beam(options, two_pieces);
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(beam.requests()[0].allowed->contains(eos));
      const std::vector<Continuation> best = {{a, -1}, {b, -2}, {5, -3}, {6, -4}};
      beam.advance(std::vector(beam.live().size(), best));
    }
    EXPECT_THAT(beam.requests()[0].allowed->ids, ElementsAre(eos));
    advance(beam, {{{-7}, {eos}}, {{-7}, {eos}}});
    ASSERT_THAT(beam.best(), SizeIs(2));
    for (const Hypothesis& h : beam.best()) EXPECT_THAT(h.ids, SizeIs(2));
  }
}

// At the limit of length, more may end than a search still wants.
TEST(BeamByOtherRules, KeepsTheFirstThatEndInFairseqAndTheBestInTransformers) {
  for (const SearchRule rule : {SearchRule::fairseq, SearchRule::huggingface_early}) {
    const SearchOptions options{.beam_size = 2, .rule = rule, .normalize = 1, .max_length_add = -1, .n_best = 2};
    Beam beam(options, two_pieces);
    advance(beam, {{{-0.5, -0.6f, -0.7f, -9}, {a, eos, b, 5}}});
    advance(beam, {{{-0.1f}, {eos}}, {{-0.1f}, {eos}}});
    ASSERT_THAT(beam.best(), SizeIs(2));
    EXPECT_THAT(beam.best()[0].ids, ElementsAre(a));
    if (rule == SearchRule::fairseq)
      EXPECT_THAT(beam.best()[1].ids, ElementsAre());
    else
      EXPECT_THAT(beam.best()[1].ids, ElementsAre(b));
  }
}

// A language stands before the translation: it costs nothing and is none of its pieces, but its length counts.
TEST(BeamByOtherRules, GivesWhatStandsBeforeATranslation) {
  Conventions conventions = conventions_of();
  conventions.frames.target.before = {7};
  const SearchOptions options{.beam_size = 2, .rule = SearchRule::huggingface, .n_best = 1};
  Beam beam(options, four_pieces, conventions);
  EXPECT_THAT(beam.requests()[0].allowed->ids, ElementsAre(7));
  advance(beam, {{{-20}, {7}}});
  advance(beam, {{{-1, -2, -3, -4}, {a, b, 5, 6}}});
  advance(beam, {{{-1, -9, -9, -9}, {eos, a, b, 5}}, {{-1, -9, -9, -9}, {eos, a, b, 5}}});
  ASSERT_THAT(beam.best(), SizeIs(1));
  EXPECT_THAT(beam.best()[0].ids, ElementsAre(a));
  EXPECT_EQ(beam.best()[0].log_prob, -2);
  EXPECT_EQ(beam.best()[0].length, 2);
  EXPECT_DOUBLE_EQ(beam.best()[0].score, -2.0 / 3);
  EXPECT_THAT(beam.best()[0].piece_log_probs, ElementsAre(-1, -1));
}

// Neither a language that is given nor an end that is forced counts for any model.
TEST(BeamByOtherRules, SumsForEachModelWhatItSumsForAll) {
  Conventions conventions = conventions_of();
  conventions.frames.target.before = {7};
  const SearchOptions options{.beam_size = 2, .rule = SearchRule::huggingface, .max_length_add = -1};
  Beam beam(options, two_pieces, conventions);
  const auto advance_by = [&](int32_t id, float first, float second) {
    beam.advance(std::vector<std::vector<Continuation>>{{{id, (first + second) / 2, {first, second}}}});
  };
  advance_by(7, -20, -10);
  advance_by(a, -1, -2);
  advance_by(eos, -7, -5);
  ASSERT_THAT(beam.best(), SizeIs(1));
  EXPECT_EQ(beam.best()[0].log_prob, -1.5);
  EXPECT_THAT(beam.best()[0].by_model, ElementsAre(-1, -2));
}

TEST(BeamByOtherRules, IsMariansForGreedySearch) {
  const SearchOptions options{.beam_size = 1, .rule = SearchRule::huggingface};
  EXPECT_EQ(Beam(options, four_pieces).requests()[0].positions, 1);
}

}  // namespace
}  // namespace dragoman
