#include "text/document.h"

#include <gmock/gmock.h>

#include <random>

#include "base/error.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Translations = std::vector<TranslatedSentence>;

Document text(std::string text, std::string_view language = "en") {
  return {std::move(text), DocumentFormat::text, language};
}

// Each translation is what the function makes of its sentence.
template <class F>
std::string translated(const Document& document, F f) {
  Translations translations;
  for (const std::string& sentence : document.sentences()) translations.push_back({f(sentence), {}});
  return document.assemble(translations);
}

std::string unchanged(const std::string& sentence) { return sentence; }
std::string in_brackets(const std::string& sentence) { return "[" + sentence + "]"; }

TEST(TextDocument, IsItsSentences) {
  EXPECT_THAT(text("One. Two!\n\nThree\r\n").sentences(), ElementsAre("One.", "Two!", "Three"));
  EXPECT_THAT(text("").sentences(), IsEmpty());
  EXPECT_THAT(text(" \n\t\r\n").sentences(), IsEmpty());
}

TEST(TextDocument, KeepsWhiteSpaceBetweenAndAround) {
  EXPECT_EQ(translated(text("  One.  Two!\n\n\t- Three\r\n \n"), in_brackets),
            "  [One.]  [Two!]\n\n\t[- Three]\r\n \n");
  EXPECT_EQ(translated(text("\uFEFFOne.\u00A0\u2028Two"), in_brackets), "\uFEFF[One.]\u00A0\u2028[Two]");
  EXPECT_EQ(translated(text(" \n"), in_brackets), " \n");
}

TEST(TextDocument, GetsABlankWhereTheOtherWritingNeedsOne) {
  const Document document = text("今日は。明日は。 はい", "ja");
  EXPECT_EQ(document.assemble(Translations{{"Today.", {}}, {"Tomorrow.", {}}, {"Yes", {}}}), "Today. Tomorrow. Yes");
  EXPECT_EQ(document.assemble(Translations{{"今天。", {}}, {"明天。", {}}, {"是", {}}}), "今天。明天。 是");
}

TEST(TextDocument, WantsATranslationOfEachSentence) {
  EXPECT_THROW(text("One. Two.").assemble(Translations{{"Eins.", {}}}), Error);
  EXPECT_EQ(text("").assemble(Translations{}), "");
}

TEST(TextDocument, WithItsOwnSentencesIsItself) {
  const std::vector<std::string> parts = {"A",   "b.",   "C! ", "。", "今日", "\n", "\r\n",   "\r", "  ",   "\t", "Dr.",
                                          " 3.", "\xFF", "\"",  "(",  "?)",   "…",  "\u2028", "\0", "\xE3", "”"};
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string whole;
    for (auto words = random() % 30; words > 0; --words) whole += parts[random() % parts.size()];
    const Document document = text(whole, round % 2 ? "de" : "ja");
    ASSERT_EQ(translated(document, unchanged), whole);
    for (const std::string& sentence : document.sentences()) {
      EXPECT_FALSE(sentence.empty());
      EXPECT_EQ(sentence.find_first_of("\n\r"), sentence.npos);
    }
  }
}

}  // namespace
}  // namespace dragoman
