#include "metrics/chrf.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

ChrfStats chrf_of(std::string_view hypothesis, std::vector<std::string_view> references, int word_order = 0) {
  return chrf_stats(hypothesis, references, Case::mixed, word_order);
}

}  // namespace

TEST(ChrfStats, CountsCharactersWithoutWhiteSpace) {
  const ChrfStats stats = chrf_of("a b\u3000c", {"abd"});
  EXPECT_EQ(stats.orders[0].hypothesis, 3);
  EXPECT_EQ(stats.orders[0].matches, 2);
  EXPECT_EQ(stats.orders[1].hypothesis, 2);  // ab, bc
  EXPECT_EQ(stats.orders[1].matches, 1);
  EXPECT_EQ(stats.orders[2].matches, 0);
  EXPECT_EQ(stats.orders[3].reference, 0);
}

TEST(ChrfStats, CountsACharacterOnceHoweverManyBytesItHas) {
  EXPECT_EQ(chrf_of("中é😀", {"x"}).orders[0].hypothesis, 3);
}

TEST(ChrfStats, LeavesOutOrdersThatTheReferenceIsTooShortFor) {
  const ChrfStats stats = chrf_of("abcdef", {"ab"});
  EXPECT_EQ(stats.orders[1].hypothesis, 5);
  EXPECT_EQ(stats.orders[2].hypothesis, 0);
}

TEST(ChrfStats, TakesTheReferenceThatScoresBest) {
  EXPECT_EQ(chrf_of("abc", {"xyzw", "abcd", "ax"}).orders[0].reference, 4);
}

TEST(ChrfStats, SplitsAMarkOffTheEndOfAWordElseOffItsBeginning) {
  const ChrfStats stats = chrf_of("(hi) \"ok -", {"x y"}, 2);
  EXPECT_EQ(stats.orders[6].hypothesis, 5);  // "(hi" ")" """ "ok" "-"
  EXPECT_EQ(stats.orders[7].hypothesis, 4);
}

// Precisions 2/3 and 1/2, recalls 2/4 and 1/3 (orders 1 and 2); the third order has 1 and 2 n-grams, none in common.
TEST(Chrf, WeighsRecallTwiceAsMuchAsPrecision) {
  const double precision = (2.0 / 3 + 1.0 / 2 + 0) / 3, recall = (2.0 / 4 + 1.0 / 3 + 0) / 3;
  EXPECT_NEAR(chrf(Lines{"abc"}, {Lines{"abde"}}), 100 * 5 * precision * recall / (4 * precision + recall), 1e-9);
}

TEST(Chrf, OfACorpusComesFromTheSumOfItsLines) {
  const Lines hypotheses{"abc def", "ghijk"}, references{"abd df", "ghxjk"};
  ChrfStats sum = chrf_of(hypotheses[0], {references[0]});
  sum += chrf_of(hypotheses[1], {references[1]});
  EXPECT_EQ(chrf(hypotheses, {references}), chrf(sum));
}

TEST(Chrf, IsAHundredForEqualLinesAndZeroWithoutCharacters) {
  const Lines lines{"one two three four", "5"}, empty{"", " "};
  EXPECT_NEAR(chrf(lines, {lines}), 100, 1e-9);
  EXPECT_EQ(chrf(empty, {lines}), 0);
  EXPECT_EQ(chrf(lines, {empty}), 0);
  EXPECT_EQ(chrf(Lines{}, {Lines{}}), 0);
}

TEST(Chrf, RefusesLinesThatDoNotPair) { EXPECT_THROW(chrf(Lines{"a", "b"}, {Lines{"a"}}), Error); }

}  // namespace dragoman
