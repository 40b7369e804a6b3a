#include "decode/beam.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/error.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr int32_t eos = 2, a = 3, b = 4;

// Continuations whose probabilities are given as logarithms, best first.
struct Row {
  std::vector<float> log_probs;
  std::vector<int32_t> ids;
};

void advance(Beam& beam, const std::vector<Row>& rows) {
  std::vector<Continuations> continuations;
  for (const Row& r : rows) continuations.push_back({r.log_probs, r.ids, 0});
  beam.advance(continuations);
}

std::vector<int32_t> tokens(const Beam& beam) {
  std::vector<int32_t> tokens;
  for (const auto& live : beam.live()) tokens.push_back(live.token);
  return tokens;
}

TEST(Beam, BeginsWithOneHypothesisThatHasNoPiece) {
  const Beam beam({}, 4);
  ASSERT_THAT(beam.live(), SizeIs(1));
  EXPECT_EQ(beam.live()[0].parent, -1);
  EXPECT_EQ(beam.live()[0].token, 1);  // <s>
}

TEST(Beam, ContinuesTheMostProbableOverAllHypotheses) {
  const SearchOptions options{.beam_size = 2};
  Beam beam(options, 4);
  advance(beam, {{{-0.5, -1, -3}, {a, b, eos}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a, b));
  advance(beam, {{{-4, -5}, {a, b}}, {{-1, -2}, {b, a}}});  // sums: -4.5 -5.5 -2 -3
  EXPECT_THAT(tokens(beam), ElementsAre(b, a));
  EXPECT_EQ(beam.live()[0].parent, 1);
  EXPECT_EQ(beam.live()[1].parent, 1);
  EXPECT_DOUBLE_EQ(beam.live()[0].log_prob, -2);
}

TEST(Beam, IsAPlaceNarrowerForEachHypothesisThatEnded) {
  const SearchOptions options{.beam_size = 2, .n_best = 2};
  Beam beam(options, 4);
  advance(beam, {{{-0.5, -1, -3}, {a, eos, b}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a));
  advance(beam, {{{-0.25, -2, -3}, {b, eos, a}}});
  EXPECT_THAT(tokens(beam), ElementsAre(b));
  advance(beam, {{{-0.25, -2, -3}, {eos, b, a}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(), ElementsAre(Hypothesis{{a, b}, -1, -1.0 / 3, 3}, Hypothesis{{}, -1, -1, 1}));
}

TEST(Beam, TakesTheLowerHypothesisAndIdOfEqualOnes) {
  const SearchOptions options{.beam_size = 2};
  Beam beam(options, 4);
  advance(beam, {{{-1, -1, -1}, {a, b, eos}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a));  // </s> has the lowest id, then a
  advance(beam, {{{-1, -1, -1}, {b, a, 5}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a));
}

TEST(Beam, NeverProducesBeginOfSentenceAndUnknownPiecesOnlyWhenAllowed) {
  const SearchOptions strict{.beam_size = 2}, lenient{.beam_size = 2, .allow_unk = true};
  const Row row{{-0.25, -0.5, -2, -3}, {1, 0, b, a}};
  Beam beam(strict, 4), other(lenient, 4);
  advance(beam, {row});
  advance(other, {row});
  EXPECT_THAT(tokens(beam), ElementsAre(b, a));
  EXPECT_THAT(tokens(other), ElementsAre(0, b));
}

TEST(Beam, TakesHypothesesAsTheyAreAtTheLimitOfLength) {
  const SearchOptions options{.beam_size = 1, .max_length_add = 0};
  Beam beam(options, 2);
  advance(beam, {{{-1, -2}, {a, b}}});
  advance(beam, {{{-1, -2}, {b, a}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(), ElementsAre(Hypothesis{{a, b}, -2, -1, 2}));
}

TEST(Beam, StopsWhenNothingCanBecomeBetter) {
  const SearchOptions options{.beam_size = 3, .normalize = 0};
  Beam beam(options, 4);
  advance(beam, {{{-0.1f, -3, -4}, {eos, a, b}}});
  EXPECT_THAT(beam.live(), SizeIs(0));
  EXPECT_THAT(beam.best(), SizeIs(1));
}

TEST(Beam, GoesOnWhileALongerTranslationCanBecomeBetter) {
  const SearchOptions options{.beam_size = 3, .normalize = 1};  // -3 over ten pieces is more than -1
  Beam beam(options, 4);
  advance(beam, {{{-1, -3, -4}, {eos, a, b}}});
  EXPECT_THAT(tokens(beam), ElementsAre(a, b));
}

TEST(Beam, RefusesOutputThatIsNotANumber) {
  const SearchOptions options;
  Beam beam(options, 4);
  const std::vector<float> logits = {1, 2};
  const std::vector<int32_t> ids = {a, b};
  const std::vector<Continuations> broken = {{logits, ids, std::numeric_limits<float>::quiet_NaN()}};
  EXPECT_THROW(beam.advance(broken), Error);
}

}  // namespace
}  // namespace dragoman
