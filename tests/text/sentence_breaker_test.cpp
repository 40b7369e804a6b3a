#include "text/sentence_breaker.h"

#include <gmock/gmock.h>

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Sentences = std::vector<std::string>;

Sentences cut(std::string_view language, std::string_view text) {
  Sentences sentences;
  for (const ByteRange& range : SentenceBreaker(language).sentences(text))
    sentences.emplace_back(text.substr(range.begin, range.size()));
  return sentences;
}

TEST(SentenceBreaker, CutsBehindFullStopsAndQuestionMarks) {
  EXPECT_THAT(cut("en", "  He left. \"Why?\" she asked.  Nobody knew! (Or did they?) "),
              ElementsAre("He left.", "\"Why?\" she asked.", "Nobody knew!", "(Or did they?)"));
  EXPECT_THAT(cut("fr", "Où est-il ? Il est parti. « Bien. » Elle aussi. « Non ! »"),
              ElementsAre("Où est-il ?", "Il est parti.", "« Bien. »", "Elle aussi.", "« Non ! »"));
  EXPECT_THAT(cut("de", "Er geht. »Ja.« Sie auch."), ElementsAre("Er geht.", "»Ja.«", "Sie auch."));
  EXPECT_THAT(cut("en", ""), IsEmpty());
  EXPECT_THAT(cut("en", " \t \u00A0 "), IsEmpty());
  EXPECT_THAT(cut("en", "no stop"), ElementsAre("no stop"));
}

TEST(SentenceBreaker, KeepsAbbreviationsWithWhatFollows) {
  EXPECT_THAT(cut("en", "Mr. Smith met Dr. J. K. Jones of the U.S. Army. He left (Prof. Hill stayed). See Fig. 3. Go."),
              ElementsAre("Mr. Smith met Dr. J. K. Jones of the U.S. Army.", "He left (Prof. Hill stayed).",
                          "See Fig. 3.", "Go."));
  EXPECT_THAT(
      cut("de", "Dr. Müller kam am 3. Mai z. B. nach St. Pölten. Er ging bzw. Sie ging. Es war 1999. Dann kam er."),
      ElementsAre("Dr. Müller kam am 3. Mai z. B. nach St. Pölten.", "Er ging bzw. Sie ging.", "Es war 1999.",
                  "Dann kam er."));
  EXPECT_THAT(cut("de-AT", "Am 3. Mai."), ElementsAre("Am 3. Mai."));
  EXPECT_THAT(cut("ru", "В г. Москве живёт А. С. Пушкин. Он поэт."),
              ElementsAre("В г. Москве живёт А. С. Пушкин.", "Он поэт."));
}

TEST(SentenceBreaker, UsesAbbreviationsOfTheLanguageAlone) {
  EXPECT_THAT(cut("en", "It is No. 5. No. That is all."), ElementsAre("It is No. 5.", "No.", "That is all."));
  EXPECT_THAT(cut("en", "He was 42. Then he left."), ElementsAre("He was 42.", "Then he left."));
  EXPECT_THAT(cut("", "Mr. Smith"), ElementsAre("Mr.", "Smith"));
  EXPECT_THAT(cut("no such language!", "One. Two."), ElementsAre("One.", "Two."));
}

TEST(SentenceBreaker, WantsABlankBehindALatinFullStop) {
  EXPECT_THAT(cut("en", "See www.Example.com. Version 1.2.Final!Really."),
              ElementsAre("See www.Example.com.", "Version 1.2.Final!Really."));
}

TEST(SentenceBreaker, CutsChineseAndJapaneseWithoutBlanks) {
  EXPECT_THAT(cut("ja", "今日は晴れです。明日は？NHKです。はい"),
              ElementsAre("今日は晴れです。", "明日は？", "NHKです。", "はい"));
  EXPECT_THAT(cut("zh-Hans", "你好。我叫李明！"), ElementsAre("你好。", "我叫李明！"));
}

TEST(SentenceBreaker, TakesIllFormedUtf8) {
  EXPECT_THAT(cut("en", "a\xFF\xC3. B\x80. \xF0\x9F"), ElementsAre("a\xFF\xC3.", "B\x80.", "\xF0\x9F"));
  EXPECT_THAT(cut("en", std::string("a\0b. C", 6)), ElementsAre(std::string("a\0b.", 4), "C"));
}

}  // namespace
}  // namespace dragoman
