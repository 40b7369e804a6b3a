#include "decode/forbidden_phrases.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <malloc.h>

#include <random>

#include "base/error.h"
#include "tests/decode/phrases_in_text.h"
#include "tests/decode/tiny_translator.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "text/characters.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

// Pieces of SentencePiece, among them bytes, which its model knows, and others, which it does not.
Vocabulary of_pieces(Words pieces) {
  pieces.insert(pieces.begin(), {"</s>", "<unk>", "<fra>"});
  return Vocabulary::from_list({.segmentation = SegmentationKind::sentencepiece,
                                .special = {.unk = 1, .eos = 0, .control = {2}},
                                .pieces = std::move(pieces),
                                .model = tiny_vocabulary().bytes()},
                               "list");
}

std::shared_ptr<const PieceTexts> texts_of(const Vocabulary& vocabulary) {
  return std::make_shared<const PieceTexts>(vocabulary);
}

// What may not follow the pieces.
Words forbidden_after(const Vocabulary& vocabulary, const Words& phrases, const Words& pieces) {
  const ForbiddenPhrases forbidden(phrases, texts_of(vocabulary));
  Constraint::State state = forbidden.begin();
  for (const std::string& piece : pieces) state = forbidden.advance(state, vocabulary.find(piece).value());
  const Allowed allowed = forbidden.next(state, {});
  EXPECT_FALSE(allowed.only);
  EXPECT_TRUE(std::ranges::is_sorted(allowed.ids));
  Words found;
  for (const int32_t id : allowed.ids) found.push_back(vocabulary.piece(id));
  return found;
}

TEST(ForbiddenPhrases, ForbidWhatCompletesThemHoweverTheyAreSplit) {
  const Vocabulary v = of_pieces(
      {"▁Hund", "▁Hu", "▁H", "u", "und", "nd", "d", "Hund", "▁Hunde", "▁Hund.", "▁der▁Hund▁ist", "▁", "e", "."});
  const Words phrases = {"Hund"};
  EXPECT_THAT(forbidden_after(v, phrases, {}), UnorderedElementsAre("▁Hund", "Hund", "▁Hund.", "▁der▁Hund▁ist"));
  EXPECT_THAT(forbidden_after(v, phrases, {"▁Hu"}), UnorderedElementsAre("nd", "▁Hund", "▁Hund.", "▁der▁Hund▁ist"));
  EXPECT_THAT(forbidden_after(v, phrases, {"e", "▁H"}), testing::Contains("und"));
  EXPECT_THAT(forbidden_after(v, phrases, {"▁Hunde"}), testing::Not(testing::Contains("Hund"))) << "within a word";
  EXPECT_THAT(forbidden_after(v, phrases, {"▁Hunde", "."}), testing::Contains("Hund")) << "a word may begin";
  EXPECT_THAT(forbidden_after(v, phrases, {"e", "u"}), testing::Not(testing::Contains("nd")));
}

TEST(ForbiddenPhrases, OfSeveralWordsHaveBlanksOfAnyKind) {
  const Vocabulary v =
      of_pieces({"▁New", "▁York", "York", "▁", "\u00A0", "▁▁", "▁Yorker", "▁in", "▁Y", "ork", "▁New▁", "\u00A0York"});
  const Words phrases = {"New York"};
  EXPECT_THAT(forbidden_after(v, phrases, {}), IsEmpty());
  EXPECT_THAT(forbidden_after(v, phrases, {"▁New"}), UnorderedElementsAre("▁York", "\u00A0York"));
  EXPECT_THAT(forbidden_after(v, phrases, {"▁New", "▁"}), UnorderedElementsAre("York", "▁York", "\u00A0York"));
  EXPECT_THAT(forbidden_after(v, phrases, {"▁New▁", "\u00A0"}), UnorderedElementsAre("York", "▁York", "\u00A0York"));
  EXPECT_THAT(forbidden_after(v, phrases, {"▁New", "▁Y"}), ElementsAre("ork"));
  EXPECT_THAT(forbidden_after(v, phrases, {"▁New", "▁in"}), IsEmpty());
  EXPECT_THAT(forbidden_after(v, {"New   York "}, {"▁New"}), UnorderedElementsAre("▁York", "\u00A0York"));
}

TEST(ForbiddenPhrases, MayOverlapAndContainEachOther) {
  const Vocabulary v = of_pieces({"▁a", "▁b", "▁c", "▁d"});
  const Words phrases = {"a b c", "b d", "c d", "a b c d"};
  EXPECT_THAT(forbidden_after(v, phrases, {"▁a", "▁b"}), ElementsAre("▁c", "▁d"));
  EXPECT_THAT(forbidden_after(v, phrases, {"▁b"}), ElementsAre("▁d"));
  EXPECT_THAT(forbidden_after(v, phrases, {"▁a", "▁b", "▁c"}), ElementsAre("▁d")) << "a forced prefix continues";
}

TEST(ForbiddenPhrases, OccurAnywhereInWritingWithoutSpaces) {
  const Vocabulary v = of_pieces({"▁小犬", "犬", "犬小屋", "子犬", "猫", "▁犬", "犬x", "x"});
  EXPECT_THAT(forbidden_after(v, {"犬"}, {"猫"}), UnorderedElementsAre("▁小犬", "犬", "犬小屋", "子犬", "▁犬", "犬x"));
  EXPECT_THAT(forbidden_after(v, {"犬小"}, {"x"}), ElementsAre("犬小屋"));
  EXPECT_THAT(forbidden_after(v, {"犬犬小"}, {"子犬"}), ElementsAre("犬小屋"));
  EXPECT_THAT(forbidden_after(v, {"子犬小"}, {"子犬"}), IsEmpty());
}

// 犬 is E7 8A AC, é C3 A9.
TEST(ForbiddenPhrases, MayBeWrittenInBytes) {
  const Vocabulary v = of_pieces(
      {"<0xE7>", "<0x8A>", "<0xAC>", "<0xAD>", "<0xC3>", "<0xA9>", "▁", "n", "<0x64>", "▁Hun", "犬", "<0x0A>", "▁Tag"});
  EXPECT_THAT(forbidden_after(v, {"犬"}, {"<0xE7>", "<0x8A>"}), UnorderedElementsAre("犬", "<0xAC>"));
  EXPECT_THAT(forbidden_after(v, {"犬"}, {"<0xE7>", "<0x8A>", "▁"}), ElementsAre("犬"));
  EXPECT_THAT(forbidden_after(v, {"犬"}, {"<0x8A>"}), ElementsAre("犬"));
  EXPECT_THAT(forbidden_after(v, {"nén"}, {"n", "<0xC3>", "<0xA9>"}), ElementsAre("n"));
  EXPECT_THAT(forbidden_after(v, {"né"}, {"▁", "n", "<0xC3>"}), ElementsAre("<0xA9>"));
  EXPECT_THAT(forbidden_after(v, {"Hund"}, {"▁Hun"}), ElementsAre("<0x64>"));
  EXPECT_THAT(forbidden_after(v, {"Hun Tag"}, {"▁Hun", "<0x0A>"}), ElementsAre("▁Tag")) << "it becomes a blank";
}

TEST(ForbiddenPhrases, AreComposedOrNot) {
  const Vocabulary v = of_pieces({"▁\u00E9cole", "▁e\u0301cole", "▁e", "\u0301cole"});
  for (const char* phrase : {"\u00E9cole", "e\u0301cole"}) {
    EXPECT_THAT(forbidden_after(v, {phrase}, {}), UnorderedElementsAre("▁\u00E9cole", "▁e\u0301cole"));
    EXPECT_THAT(forbidden_after(v, {phrase}, {"▁e"}), testing::Contains("\u0301cole"));
  }
  EXPECT_THAT(forbidden_after(v, {"Ecole"}, {}), IsEmpty()) << "case matters";
}

TEST(ForbiddenPhrases, OfTokensAndMergesAreInTheTextThatTheyWrite) {
  const Vocabulary tokens = Vocabulary::from_list(
      {.special = {.unk = 1, .eos = 0}, .pieces = {"</s>", "<unk>", "New", "York", "Yorker", "York's", "Hun@@", "d"}},
      "list");
  EXPECT_THAT(forbidden_after(tokens, {"New York"}, {"New"}), UnorderedElementsAre("York", "York's"));
  EXPECT_THAT(forbidden_after(tokens, {"Hun@@ d"}, {"Hun@@"}), IsEmpty()) << "it writes Hund";
  EXPECT_THAT(forbidden_after(tokens, {"Hund"}, {"Hun@@"}), ElementsAre("d"));
  const Vocabulary merges = Vocabulary::from_list({.segmentation = SegmentationKind::bpe,
                                                   .special = {.unk = 1, .eos = 0},
                                                   .pieces = {"</s>", "<unk>", "Hun@@", "d", "d@@", "e", "Hund", "ist"},
                                                   .model = "H u\n"},
                                                  "list");
  EXPECT_THAT(forbidden_after(merges, {"Hund"}, {"ist", "Hun@@"}), UnorderedElementsAre("d", "d@@"))
      << "the piece may be the last one";
  EXPECT_THAT(forbidden_after(merges, {"Hund"}, {"Hun@@", "e"}), ElementsAre("Hund"));
  EXPECT_THAT(forbidden_after(merges, {"Hund ist"}, {"Hund"}), ElementsAre("ist"));
}

TEST(ForbiddenPhrases, DoNotForbidTheEndNorPiecesThatWriteNothing) {
  const Vocabulary v = of_pieces({"▁a", "▁b", "a"});
  EXPECT_THAT(forbidden_after(v, {"a", "b", "⁇"}, {"▁a", "<fra>"}), ElementsAre("<unk>", "▁a", "▁b"));
}

// Many pieces complete a phrase after "!", and so after each "!" of a long phrase.
TEST(ForbiddenPhrases, TakeMemoryInProportionToTheirCharacters) {
  Words pieces = {"!"}, phrases = {std::string(10000, '!')};
  for (int i = 0; i < 500; ++i) {
    pieces.push_back(fmt::format("x{}", i));
    phrases.push_back("!" + pieces.back());
  }
  const Vocabulary v = of_pieces(pieces);
  const auto texts = texts_of(v);
  const size_t before = mallinfo2().uordblks;
  const ForbiddenPhrases forbidden(phrases, texts);
  EXPECT_LT(mallinfo2().uordblks - before, size_t{8} << 20);
  EXPECT_EQ(forbidden_after(v, phrases, Words(50, "!")).size(), 500u);
}

TEST(ForbiddenPhrases, SayWhichOneIsWritten) {
  const Vocabulary v = of_pieces({"▁a", "▁b", "▁ab", "c"});
  const ForbiddenPhrases forbidden(Words{"a b", "ab"}, texts_of(v));
  const auto ids = [&](const Words& pieces) {
    std::vector<int32_t> ids;
    for (const std::string& piece : pieces) ids.push_back(v.find(piece).value());
    return ids;
  };
  EXPECT_EQ(forbidden.first_in(ids({"▁b", "▁a", "▁b", "▁ab"})), "a b");
  EXPECT_EQ(forbidden.first_in(ids({"▁ab", "c"})), "ab");
  EXPECT_EQ(forbidden.first_in(ids({"▁b", "▁a"})), "");
  EXPECT_TRUE(forbidden.is_for(v));
  EXPECT_FALSE(forbidden.is_for(tiny_vocabulary()));
}

TEST(ForbiddenPhrases, MayBeInAFile) {
  const TemporaryFolder folder;
  const auto pieces = texts_of(of_pieces({"▁a", "▁b", "▁c"}));
  const auto file = [&](const std::string& lines) { return ForbiddenPhrases(folder.make("phrases", lines), pieces); };
  EXPECT_THAT(file("\n  a \r\n\u00A0\nb").next(file("").begin(), {}).ids, ElementsAre(3, 4));
  EXPECT_TRUE(file("").empty() && file(" \n").empty());
  EXPECT_FALSE(file("a\na\n").empty());
  EXPECT_THAT([&] { file("a\nb\tc\n"); }, ThrowsMessage<Error>(HasSubstr("phrases, line 2: has a tab")));
  EXPECT_THAT([&] { file("a\n\xff\n"); }, ThrowsMessage<Error>(HasSubstr("phrases, line 2: not UTF-8")));
  EXPECT_EQ(thrown_by([&] { file(tiny_vocabulary().bytes()); }).hint(),
            "give a text file with one phrase per line that must not occur in translations");
  EXPECT_THAT([&] { ForbiddenPhrases(Words{"a", " "}, pieces); }, ThrowsMessage<Error>("avoid: a phrase is empty"));
  EXPECT_THAT(
      [&] {
        ForbiddenPhrases(Words{"a", "caf\xe9"}, pieces);
      },
      ThrowsMessage<Error>("avoid: the phrase 'caf\uFFFD' is not UTF-8"));
}

// Some of a few characters from a text.
Words random_phrases(const std::string& text, std::mt19937& random) {
  std::vector<size_t> characters = {0};
  for (size_t at = 0; at < text.size(); characters.push_back(at)) character_at(text, at);
  Words phrases;
  for (int i = 0; i < 6; ++i) {
    const size_t begin = random() % characters.size(), end = std::min(begin + 1 + random() % 3, characters.size() - 1);
    const std::string_view some = std::string_view(text).substr(characters[begin], characters[end] - characters[begin]);
    const ByteRange range = without_blanks(some, {0, some.size()});
    const std::string phrase(some.substr(range.begin, range.size()));
    const bool starts_well = !phrase.empty() && !word_role(first_character(phrase)).mark;
    if (starts_well && phrase.find("\uFFFD") == phrase.npos) phrases.push_back(phrase);
  }
  return phrases;
}

// By random walks: a piece may follow if the text that it makes has no phrase.
void expect_what_the_text_shows(const Vocabulary& v, std::mt19937& random, int walks, size_t longest) {
  for (int walk = 0; walk < walks; ++walk) {
    std::vector<int32_t> some(60);
    for (int32_t& id : some) id = int32_t(random() % uint32_t(v.size()));
    const Words phrases = random_phrases(v.decode(some), random);
    const ForbiddenPhrases forbidden(phrases, texts_of(v));
    Constraint::State state = forbidden.begin();
    std::vector<int32_t> pieces;
    while (pieces.size() < longest) {
      const Allowed allowed = forbidden.next(state, {});
      std::vector<int32_t> may_follow;
      for (int32_t id = 0; id < v.size(); ++id) {
        pieces.push_back(id);
        const std::string written = v.decode(pieces);
        const bool has_one = std::ranges::any_of(phrases, [&](const std::string& p) { return has_phrase(written, p); });
        ASSERT_EQ(allowed.contains(id), !has_one)
            << written << "|" << v.piece(id) << "|" << testing::PrintToString(phrases);
        pieces.pop_back();
        if (!has_one) may_follow.push_back(id);
      }
      ASSERT_FALSE(may_follow.empty());
      pieces.push_back(may_follow[random() % may_follow.size()]);
      state = forbidden.advance(state, pieces.back());
    }
    EXPECT_EQ(forbidden.first_in(pieces), "");
  }
}

TEST(ForbiddenPhrases, ForbidWhatWouldWriteThem) {
  std::mt19937 random(3);
  expect_what_the_text_shows(tiny_vocabulary(), random, 30, 12);
  expect_what_the_text_shows(Vocabulary::load(source_dir() + "/tests/vocab/golden/unigram.spm"), random, 30, 12);
  expect_what_the_text_shows(of_pieces({"▁", "a", "▁a", "a▁", "b", "▁ab", "ab", "犬", "▁犬a", "a犬", ".", "<0xE7>",
                                        "<0x8A>", "<0xAC>", "<0x61>"}),
                             random, 300, 15);
  expect_what_the_text_shows(
      Vocabulary::from_list({.segmentation = SegmentationKind::bpe,
                             .special = {.unk = 1, .eos = 0},
                             .pieces = {"</s>", "<unk>", "a@@", "a", "b@@", "b", "ab", "ab@@", ".", "c'a"},
                             .model = "a b\n"},
                            "list"),
      random, 300, 15);
}

}  // namespace
}  // namespace dragoman
