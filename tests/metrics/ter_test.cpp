#include "metrics/ter.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "metrics/edit_distance.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

TerStats ter_of(std::string_view hypothesis, std::vector<std::string_view> references, Case letters = Case::lower) {
  return ter_stats(hypothesis, references, letters);
}

double edits(std::string_view hypothesis, std::string_view reference) { return ter_of(hypothesis, {reference}).edits; }

std::vector<int> positions(std::u32string_view hypothesis, std::u32string_view reference) {
  EditDistance distance(reference, hypothesis.size());
  distance.to(hypothesis);
  return distance.align().position;
}

}  // namespace

TEST(EditDistance, CountsWordsInsertedDeletedAndReplaced) {
  EXPECT_EQ(EditDistance(U"abcd", 4).to(U"abcd"), 0);
  EXPECT_EQ(EditDistance(U"abcd", 3).to(U"acd"), 1);
  EXPECT_EQ(EditDistance(U"abcd", 5).to(U"abxcd"), 1);
  EXPECT_EQ(EditDistance(U"abcd", 4).to(U"axcy"), 2);
  EXPECT_EQ(EditDistance(U"abcd", 0).to(U""), 4);
}

TEST(EditDistance, OfAHypothesisWithACommonBeginningIsThatOfTheWhole) {
  EditDistance changed(U"abcdefg", 6);
  changed.to(U"abxdeg");
  for (const std::u32string_view other : {U"abxedg", U"abxdge", U"abxdeg"})
    EXPECT_EQ(changed.to_changed(other, 3), EditDistance(U"abcdefg", 6).to(other));
}

TEST(EditDistance, AlignsWordsOfTheReference) {
  EXPECT_EQ(positions(U"abc", U"abc"), (std::vector{0, 1, 2}));
  EXPECT_EQ(positions(U"ac", U"abc"), (std::vector{0, 0, 1}));  // b would follow word 0
  EXPECT_EQ(positions(U"bc", U"abc"), (std::vector{-1, 0, 1}));
  EXPECT_EQ(positions(U"axbc", U"abc"), (std::vector{0, 2, 3}));
}

TEST(Ter, CountsWordsInsertedDeletedAndReplaced) {
  EXPECT_EQ(edits("the cat sat", "the cat sat"), 0);
  EXPECT_EQ(edits("the cat", "the cat sat"), 1);
  EXPECT_EQ(edits("the black cat sat", "the cat sat"), 1);
  EXPECT_EQ(edits("the dog sat", "the cat sat"), 1);
}

// The example of the paper, section 2.1: "this week" moved, "in" added, "american" replaced … 4 edits.
TEST(Ter, CountsARunOfWordsThatMovesAsOneEdit) {
  EXPECT_EQ(edits("THIS WEEK THE SAUDIS denied information published in the new york times",
                  "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times"),
            4);
  EXPECT_EQ(edits("d e f a b c", "a b c d e f"), 1);
  EXPECT_EQ(edits("b c d e a", "a b c d e"), 1);
}

TEST(Ter, TakesTheNearestReferenceAndTheMeanOfTheirLengths) {
  const TerStats stats = ter_of("a b c", {"x y z u", "a b d"});
  EXPECT_EQ(stats.edits, 1);
  EXPECT_EQ(stats.reference_words, 3.5);
}

TEST(Ter, IgnoresCapitalsUnlessToldOtherwise) {
  EXPECT_EQ(ter_of("The ÄRGER", {"the ärger"}).edits, 0);
  EXPECT_EQ(ter_of("The ÄRGER", {"the ärger"}, Case::mixed).edits, 2);
}

TEST(Ter, OfACorpusComesFromTheSumOfItsLines) {
  const Lines hypotheses{"a b c", "x"}, references{"a b d", "x y z"};
  EXPECT_EQ(ter(sum_of(ter_of_lines(hypotheses, {references}))), 100 * (1.0 + 2) / (3 + 3));
}

TEST(Ter, OfNothingIsZeroAndOfSomethingWithoutAReferenceAHundred) {
  EXPECT_EQ(ter(ter_of("", {""})), 0);
  EXPECT_EQ(ter(ter_of("a b", {""})), 100);
  EXPECT_EQ(ter(ter_of("", {"a b"})), 100);
}

TEST(Ter, OfLinesOfThousandsOfWordsEndsSoon) {
  std::string forth, back;
  for (int i = 0; i < 2000; ++i) {
    forth += std::to_string(i % 7) + " ";
    back += std::to_string(i * i % 11) + " ";
  }
  EXPECT_LE(edits(forth, back), 2000);
}

TEST(Ter, RefusesLinesThatDoNotPair) { EXPECT_THROW(ter_of_lines(Lines{"a", "b"}, {Lines{"a"}}), Error); }

}  // namespace dragoman
