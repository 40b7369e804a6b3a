#include "data/survey.h"

#include <gmock/gmock.h>

#include <tuple>

#include "base/error.h"
#include "tests/temporary_folder.h"
#include "tests/threads.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Lines of "a b" and the like, and a vocabulary in which every letter is a piece.
struct Texts {
  Texts() {
    std::string letters;
    for (int i = 0; i < 20; ++i) letters += "a b c d\n";
    train_vocabulary({.inputs = {files.make("letters", letters)},
                      .model = files / "v",
                      .size = 9,  // <unk> <s> </s> ▁ and the letters, and one that is merged
                      .normalization = "identity",
                      .byte_fallback = false});
  }
  CorpusSurvey survey(const std::string& source, const std::string& target, const SurveyOptions& options = {},
                      bool pieces = false, Corpus* kept = nullptr) {
    std::vector<Vocabulary> vocabularies;
    if (pieces) vocabularies.assign(2, Vocabulary::load(files / "v"));
    return survey_corpus({{{files.make("s", source), files.make("t", target)}}}, vocabularies, options, kept);
  }
  TemporaryFolder files;
};

TEST(Survey, CountsWordsAndTheirHistogram) {
  const CorpusSurvey s = Texts().survey("a b  c\n d\n\n", "x\ny z\nq\n");
  EXPECT_EQ(s.lines, 3);
  EXPECT_EQ(s.sides[0].words, 4);
  EXPECT_EQ(s.sides[1].words, 4);
  EXPECT_THAT(s.sides[0].lengths, ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(s.sides[1].lengths, ElementsAre(0, 2, 1));
  EXPECT_EQ(s.sides[0].longest, 3);
  EXPECT_EQ(s.sides[1].longest_line, 2);
  EXPECT_EQ(s.encoded, 0);
}

TEST(Survey, PointsAtWhatLooksWrong) {
  const std::string longer(61, 'x');
  const CorpusSurvey s = Texts().survey("a\n\nsame\n" + longer + "\na\nb\xff\n \n",  //
                                        "b\nx\nsame\n" + longer.substr(0, 20) + "\nb\nc\ny\n");
  EXPECT_EQ(s.empty.count, 2);
  EXPECT_THAT(s.empty.lines, ElementsAre(2, 7));
  EXPECT_THAT(s.copies.lines, ElementsAre(3));
  EXPECT_THAT(s.uneven.lines, ElementsAre(4));
  EXPECT_EQ(s.duplicates, 1);  // (a, b) of line 5
  EXPECT_EQ(s.sides[0].invalid_utf8.lines, 1);
  EXPECT_EQ(s.sides[0].invalid_utf8.first, 6);
}

TEST(Survey, TakesThreeTimesTheCharactersForEvenAndCountsCharactersNotBytes) {
  const CorpusSurvey s = Texts().survey(std::string(60, 'x') + "\nää\n", std::string(20, 'x') + "\naa\n");
  EXPECT_EQ(s.uneven.count, 0);
}

TEST(Survey, CountsPiecesAndKeepsWhatTrainingWould) {
  Texts texts;
  Corpus kept;
  kept.files.vocabularies.assign(2, Vocabulary::load(texts.files / "v"));
  const CorpusSurvey s = texts.survey("a\na a a a a a\n\nz\n", "b\nb\nb\nb\n", {.max_length = 5}, true, &kept);
  EXPECT_EQ(s.encoded, 3);
  EXPECT_THAT(s.too_long.lines, ElementsAre(2));
  EXPECT_EQ(s.sides[0].unknown, 1);  // z
  EXPECT_EQ(s.sides[1].unknown, 0);
  ASSERT_EQ(kept.size(), 2);
  EXPECT_EQ(kept.pairs[0].line, 0);
  EXPECT_EQ(kept.pairs[1].line, 3);
  EXPECT_EQ(kept.pairs[1].target.back(), 2);  // </s>
}

TEST(Survey, KeepsNoPairWithoutPieces) {
  const TemporaryFolder files;
  train_vocabulary(
      {.inputs = {files.make("letters", "a b c d\n")}, .model = files / "v", .size = 9, .byte_fallback = false});
  const std::vector<Vocabulary> vocabularies(2, Vocabulary::load(files / "v"));
  Corpus kept;
  kept.files.vocabularies = vocabularies;
  const CorpusSurvey s =
      survey_corpus({{{files.make("s", "a\n\u3000\na\n"), files.make("t", "a\na\n\x01\n")}}}, vocabularies, {}, &kept);
  EXPECT_THAT(s.no_pieces.lines, ElementsAre(2, 3)) << "they have blanks and control characters alone";
  EXPECT_EQ(s.encoded, 3);
  EXPECT_EQ(kept.size(), 1);
}

TEST(Survey, KeepsCroppedPairsIfTrainingWould) {
  Texts texts;
  Corpus kept;
  kept.files.vocabularies.assign(2, Vocabulary::load(texts.files / "v"));
  const CorpusSurvey s = texts.survey("a\na a a a a a\n", "b\nb\n", {.max_length = 5, .crops = true}, true, &kept);
  EXPECT_THAT(s.too_long.lines, ElementsAre(2));
  ASSERT_EQ(kept.size(), 2);
  EXPECT_EQ(kept.pairs[1].source.size(), 6);  // with </s>
}

TEST(Survey, OfASampleEncodesSoManyPairsAndTheSameOnesAgain) {
  Texts texts;
  std::string source, target;
  for (int i = 0; i < 500; ++i) source += "a\n", target += "b\n";
  std::vector<int32_t> lines[2];
  for (auto& chosen : lines) {
    Corpus kept;
    kept.files.vocabularies.assign(2, Vocabulary::load(texts.files / "v"));
    EXPECT_EQ(texts.survey(source, target, {.sample = 100}, true, &kept).encoded, 100);
    for (int64_t i = 0; i < kept.size(); ++i) chosen.push_back(kept.pairs[i].line);
  }
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_TRUE(std::ranges::is_sorted(lines[0]));
  EXPECT_GT(lines[0].back(), 400);  // the chance of none in the last fifth is 0.8^100
  Corpus all;
  all.files.vocabularies.assign(2, Vocabulary::load(texts.files / "v"));
  EXPECT_EQ(texts.survey(source, target, {.sample = 0}, true, &all).encoded, 500);
  EXPECT_EQ(all.size(), 500);
}

// 900 empty lines, then 200 pairs, of which 100 are chosen: 50 of the last 100, with a standard deviation of 3.5.
TEST(Survey, OfASampleCountsOnlyPairsThatAreNotEmpty) {
  Texts texts;
  std::string source(900, '\n'), target(900, '\n');
  for (int i = 0; i < 200; ++i) source += "a\n", target += "b\n";
  Corpus kept;
  kept.files.vocabularies.assign(2, Vocabulary::load(texts.files / "v"));
  texts.survey(source, target, {.sample = 100}, true, &kept);
  int64_t late = 0;
  for (int64_t i = 0; i < kept.size(); ++i) late += kept.pairs[i].line >= 1000;
  EXPECT_EQ(kept.size(), 100);
  EXPECT_NEAR(double(late), 50, 18);
}

TEST(Survey, IsTheSameForAnyNumberOfThreads) {
  std::string source, target;
  for (int i = 0; i < 25'000; ++i)
    source += std::string(size_t(i % 7), 'a') + " b\n", target += i % 3 ? "c d\n" : "x\n";
  const auto lengths = [&](int count) {
    const Threads threads(count);
    const CorpusSurvey s = Texts().survey(source, target, {.max_length = 5, .sample = 0}, true);
    return std::tuple(s.encoded, s.sides[0].lengths, s.sides[1].unknown, s.too_long.count, s.too_long.lines);
  };
  EXPECT_EQ(lengths(4), lengths(1));
}

TEST(Survey, NeedsAsManyLinesOnBothSides) {
  try {
    Texts().survey("a\nb\nc\n", "a\nb\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has 3 lines"));
  }
}

}  // namespace
}  // namespace dragoman
