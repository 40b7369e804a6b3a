#include "metrics/tokenize.h"

#include <gmock/gmock.h>

#include <chrono>

#include "base/error.h"
#include "base/utf8.h"
#include "metrics/text.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::u32string> words(std::u32string_view line, const LineTokenizer& tokenizer) {
  const std::u32string text = tokenizer(line);
  const auto views = metrics::split(text);
  return {views.begin(), views.end()};
}

}  // namespace

TEST(Tokenize13a, SplitsPunctuationButNotApostrophesAndHyphens) {
  EXPECT_THAT(words(U"(It's a well-known \"fact\")!", Tokenizer::thirteen_a),
              ElementsAre(U"(", U"It's", U"a", U"well-known", U"\"", U"fact", U"\"", U")", U"!"));
}

TEST(Tokenize13a, KeepsPeriodsAndCommasWithinNumbers) {
  EXPECT_THAT(words(U"$1,234.56, no.", Tokenizer::thirteen_a), ElementsAre(U"$", U"1,234.56", U",", U"no", U"."));
}

TEST(Tokenize13a, SplitsThePeriodAfterANumberAtTheEnd) {
  EXPECT_THAT(words(U"in 2014.", Tokenizer::thirteen_a), ElementsAre(U"in", U"2014", U"."));
}

TEST(Tokenize13a, SplitsAHyphenOnlyAfterADigit) {
  EXPECT_THAT(words(U"3-4 x-y -5", Tokenizer::thirteen_a), ElementsAre(U"3", U"-", U"4", U"x-y", U"-5"));
}

TEST(Tokenize13a, UndoesMarkupOnce) {
  EXPECT_THAT(words(U"&quot;a&amp;lt;&gt;<skipped>", Tokenizer::thirteen_a), ElementsAre(U"\"", U"a", U"<", U">"));
}

TEST(Tokenize13a, TakesNoLongForALineOfMarkup) {
  constexpr int count = 800'000;
  std::u32string line;
  for (int i = 0; i < count; ++i) line += U"&amp;";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(words(line, Tokenizer::thirteen_a), std::vector<std::u32string>(count, U"&"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Tokenize13a, LeavesPunctuationBeyondAscii) {
  EXPECT_THAT(words(U"¿Qué? «oui»", Tokenizer::thirteen_a), ElementsAre(U"¿Qué", U"?", U"«oui»"));
}

TEST(TokenizeIntl, SplitsPunctuationAndSymbolsOfAllScripts) {
  EXPECT_THAT(words(U"«oui»，今天€5", Tokenizer::intl), ElementsAre(U"«", U"oui", U"»", U"，", U"今天", U"€", U"5"));
}

TEST(TokenizeIntl, KeepsPunctuationBetweenNumbersOfAnyScript) {
  EXPECT_THAT(words(U"1.5 ٣٫٥ Ⅷ,½", Tokenizer::intl), ElementsAre(U"1.5", U"٣٫٥", U"Ⅷ,½"));
}

// As in mteval-v14, unlike 13a.
TEST(TokenizeIntl, LeavesThePeriodAfterANumberAtTheVeryEnd) {
  EXPECT_THAT(words(U"in 2014.", Tokenizer::intl), ElementsAre(U"in", U"2014."));
}

TEST(TokenizeChar, MakesEveryCharacterAWord) {
  EXPECT_THAT(words(U"今a 天e\u0301", Tokenizer::character), ElementsAre(U"今", U"a", U"天", U"e", U"\u0301"));
}

TEST(TokenizeNone, OnlySplitsAtWhiteSpace) {
  EXPECT_THAT(words(U"it 's , (ok)\u3000x", Tokenizer::none), ElementsAre(U"it", U"'s", U",", U"(ok)", U"x"));
}

TEST(TokenizeSpm, MakesEveryPieceOfTheModelAWord) {
  const std::string model = source_dir() + "/tests/vocab/golden/unigram.spm";
  const auto pieces = words(U"Where is the castle?", LineTokenizer(Tokenizer::spm, model));
  const auto expected = Vocabulary::load(model).encode_pieces("Where is the castle?");
  ASSERT_GT(pieces.size(), 1u);
  ASSERT_EQ(pieces.size(), expected.size());
  for (size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(to_utf8(pieces[i]), expected[i]);
}

TEST(TokenizeSpm, IsTheOnlyOneThatNeedsAModel) {
  EXPECT_EQ(std::string(tokenizers_without_model) + ", spm", all_names<Tokenizer>());
}

TEST(TokenizeSpm, NeedsASentencePieceModel) {
  const auto error = [](const std::string& what) { return ThrowsMessage<Error>(HasSubstr(what)); };
  EXPECT_THAT([] { LineTokenizer{Tokenizer::spm}; }, error("--tokenize spm needs --tokenize-model"));
  EXPECT_THAT([] { LineTokenizer(Tokenizer::intl, "m"); },
              error("--tokenize-model is for --tokenize spm, found --tokenize intl"));
  TemporaryFolder folder;
  const std::string list = folder.make("list.txt", "</s>\n<unk>\na\n");
  EXPECT_THAT([&] { LineTokenizer(Tokenizer::spm, list); }, error("list.txt is a list of pieces, expected"));
  const std::string text = folder.make("text", "no model");
  EXPECT_THAT([&] { LineTokenizer(Tokenizer::spm, text); }, error("expected a SentencePiece model"));
}

}  // namespace dragoman
