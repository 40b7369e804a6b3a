#include "metrics/bleu.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;
using testing::ElementsAre;

BleuStats stats_of(std::string_view hypothesis, std::vector<std::string_view> references) {
  return bleu_stats(hypothesis, references, Tokenizer::none);
}

}  // namespace

// Papineni et al. 2002, section 2.1, example 2: a modified unigram precision of 2/7.
TEST(BleuStats, ClipsAWordToItsCountInTheReferenceThatHasItMost) {
  const BleuStats stats =
      stats_of("the the the the the the the", {"the cat is on the mat", "there is a cat on the mat"});
  EXPECT_THAT(stats.matches, ElementsAre(2, 0, 0, 0));
  EXPECT_THAT(stats.totals, ElementsAre(7, 6, 5, 4));
}

// The same paper, section 2.1: candidate 1 has 17/18 unigrams and 10/17 bigrams, candidate 2 has 8/14 and 1/13.
TEST(BleuStats, CountsAsThePaperDoes) {
  const std::vector<std::string_view> references{
      "it is a guide to action that ensures that the military will forever heed party commands",
      "it is the guiding principle which guarantees the military forces always being under the command of the party",
      "it is the practical guide for the army always to heed the directions of the party"};
  const BleuStats first = stats_of(
      "it is a guide to action which ensures that the military always obeys the commands of the party", references);
  EXPECT_EQ(first.matches[0], 17);
  EXPECT_EQ(first.totals[0], 18);
  EXPECT_EQ(first.matches[1], 10);
  EXPECT_EQ(first.totals[1], 17);
  const BleuStats second =
      stats_of("it is to insure the troops forever hearing the activity guidebook that party direct", references);
  EXPECT_EQ(second.matches[0], 8);
  EXPECT_EQ(second.totals[0], 14);
  EXPECT_EQ(second.matches[1], 1);
  EXPECT_EQ(second.totals[1], 13);
}

TEST(BleuStats, TakesTheClosestReferenceLengthAndOfTwoTheShorter) {
  EXPECT_EQ(stats_of("a b c d", {"a b c d e f", "a b c"}).reference_words, 3);
  EXPECT_EQ(stats_of("a b c d", {"a b c d e f", "a b"}).reference_words, 2);
  EXPECT_EQ(stats_of("a b c d", {"a b", "a b c d e f"}).reference_words, 2);
}

// p = 4/5, 2/4, 1/3 and, smoothed, 1/(2·2); r = 6, c = 5.
TEST(Bleu, IsTheGeometricMeanOfPrecisionsTimesTheBrevityPenalty) {
  const Bleu result = bleu(Lines{"a b c x d"}, {Lines{"a b c d e f"}}, Tokenizer::none);
  EXPECT_NEAR(result.brevity_penalty, std::exp(1 - 6.0 / 5), 1e-12);
  EXPECT_NEAR(result.score, 100 * std::exp(-0.2) * std::pow(0.8 * 0.5 / 3 / 4, 0.25), 1e-9);
  EXPECT_NEAR(result.ratio(), 5.0 / 6, 1e-12);
}

TEST(Bleu, OfACorpusComesFromTheSumOfItsLines) {
  const Lines hypotheses{"a b c d e", "f g h i"}, references{"a b c d e f", "f g x i"};
  BleuStats sum = stats_of(hypotheses[0], {references[0]});
  sum += stats_of(hypotheses[1], {references[1]});
  EXPECT_EQ(bleu(hypotheses, {references}, Tokenizer::none).score, bleu(sum).score);
}

TEST(Bleu, IsAHundredForEqualLinesAndZeroWithoutWords) {
  const Lines lines{"one two three four", "five"}, empty{"", ""};
  EXPECT_NEAR(bleu(lines, {lines}).score, 100, 1e-9);
  EXPECT_EQ(bleu(empty, {lines}).score, 0);
  EXPECT_EQ(bleu(empty, {empty}).score, 0);
  EXPECT_EQ(bleu(Lines{}, {Lines{}}).score, 0);
}

TEST(Bleu, TakesIllFormedBytesForReplacementCharacters) {
  const Lines bytes{"a \xFF b \xE4\xB8 c d\xC3"}, replaced{"a \uFFFD b \uFFFD c d\uFFFD"};
  for (const auto& [tokenizer, name] : enum_names(Tokenizer{})) {
    if (tokenizer == Tokenizer::spm) continue;
    SCOPED_TRACE(name);
    EXPECT_NEAR(bleu(bytes, {replaced}, tokenizer, Case::lower).score, 100, 1e-9);
  }
}

TEST(Bleu, SaysWhichReferenceHasAnotherNumberOfLines) {
  const Lines two{"a", "b"}, one{"a"};
  try {
    bleu(two, {two, one});
    FAIL() << "lines that do not pair were accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "reference 2 has 1 lines, the hypotheses have 2");
  }
  EXPECT_THROW(bleu(two, {}), Error);
}

}  // namespace dragoman
