#include "decode/translator.h"

#include <gmock/gmock.h>

#include "tests/decode/tiny_translator.h"
#include "tests/vocab/travel_text.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

class TranslatorTest : public testing::Test {
 protected:
  std::vector<std::string> translate(const std::vector<std::string>& lines) {
    return Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search).translate(lines);
  }

  // Short parts and translations: a random model ends none by itself, and 12,000 words are many.
  void expect_hostile_lines() {
    options.max_length = 200;
    search.max_length_factor = 0.3;
  }

  TinyModel tiny;
  TranslateOptions options;
  SearchOptions search{.beam_size = 3, .max_length_add = 3};
};

std::vector<std::string> hostile_lines() {
  std::string words = "the";
  for (int i = 1; i < 12'000; ++i) words += " the";
  return {"",
          " ",
          "\t \v\f ",
          "\r",
          "a\rb",
          std::string("a\0b", 3),
          std::string(1, '\0'),
          "one\u2028two\u0085three",
          "\xff\xfe broken \xe2\x82",
          "\u200b",
          "</s> <s> <unk> <0x0A>",
          "a ||| b",
          "😀 漢字 한국어 العربية",
          std::string(5000, 'x'),
          words};
}

TEST_F(TranslatorTest, GivesALineForEveryLineWhateverItHolds) {
  expect_hostile_lines();
  const auto translations = translate(hostile_lines());
  EXPECT_THAT(translations, SizeIs(hostile_lines().size()));
  EXPECT_THAT(translations, Each(testing::Not(testing::ContainsRegex("[\r\n]"))));
}

TEST_F(TranslatorTest, TranslatesLinesOfBlanksAsEmpty) {
  EXPECT_THAT(translate({"", "Where is the castle?", " \t ", "\r"}), ElementsAre("", testing::Ne(""), "", ""));
}

TEST_F(TranslatorTest, GivesALineTheSameTranslationAloneAndAmongOthers) {
  expect_hostile_lines();
  auto lines = travel_text();
  lines.resize(60);
  for (const auto& hostile : hostile_lines()) lines.insert(lines.begin() + 10, hostile);
  const auto together = translate(lines);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_THAT(translate({lines[i]}), ElementsAre(together[i]));
  options.maxi_batch_lines = 2;
  options.mini_batch_words = 1;
  EXPECT_EQ(translate(lines), together);
}

TEST_F(TranslatorTest, TranslatesALongLineInParts) {
  options.no_spm_encode = true;
  options.max_length = 3;
  const auto parts = translate({"▁a b .", "▁the ▁a a"});
  EXPECT_THAT(translate({"▁a b . ▁the ▁a a"}), ElementsAre(parts[0] + " " + parts[1]));
}

TEST_F(TranslatorTest, StaysWithinATableOfLearnedPositions) {
  TinyModel learned(Positions::learned, 8);
  const std::vector<std::string> line = {"▁a b . ▁a ▁the a b ▁a c"}, parts = {"▁a b . ▁a ▁the a b", "▁a c"};
  options.no_spm_encode = true;
  Translator translator(learned.cx, *learned.model, learned.vocabularies, options, search);
  const auto expected = translator.translate(parts);
  EXPECT_THAT(translator.translate(line), ElementsAre(expected[0] + " " + expected[1]));
}

TEST_F(TranslatorTest, WritesALineBeforeItWaitsForTheNext) {
  const std::vector<std::string> lines = {"Where is the castle?", "", "How much is a ticket?", " "};
  size_t read = 0, written = 0, flushed = 0;
  Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search)
      .run({.ready = [] { return false; },
            .next =
                [&](std::string& line) {
                  EXPECT_EQ(flushed, read) << "would wait although a line is pending";
                  return read < lines.size() && (line = lines[read++], true);
                },
            .write = [&](const auto&) { ++written; },
            .flush = [&] { flushed = written; }});
  EXPECT_EQ(flushed, lines.size());
}

TEST_F(TranslatorTest, HoldsNoMoreLinesThanItMay) {
  const auto lines = travel_text();
  options.maxi_batch_lines = 7;
  size_t read = 0, written = 0, most = 0;
  Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search)
      .run({.ready = [] { return true; },
            .next =
                [&](std::string& line) {
                  const bool more = read < 100;
                  if (more) line = lines[read++];
                  most = std::max(most, read - written);
                  return more;
                },
            .write = [&](const auto&) { ++written; },
            .flush = [] {}});
  EXPECT_EQ(written, 100u);
  EXPECT_EQ(most, 7u);
}

}  // namespace
}  // namespace dragoman
