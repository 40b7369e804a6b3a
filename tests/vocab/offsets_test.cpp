#include <gmock/gmock.h>

#include <algorithm>

#include "base/file.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "tests/vocab/travel_text.h"
#include "vocab/listed_vocabulary.h"
#include "vocab/training.h"
#include "vocab/vocabulary.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

const std::string golden_models = source_dir() + "/tests/vocab/golden/";

Words cut(std::string_view text, const std::vector<ByteRange>& ranges) {
  Words words;
  for (const ByteRange& range : ranges) words.emplace_back(text.substr(range.begin, range.size()));
  return words;
}

Words source_words(const Vocabulary& vocabulary, std::string_view line) {
  return cut(line, vocabulary.encode_with_offsets(line).ranges);
}

Words target_words(const Vocabulary& vocabulary, const Ids& ids) {
  const DecodedText decoded = vocabulary.decode_with_offsets(ids);
  return cut(decoded.text, decoded.ranges);
}

// SentencePiece takes a tab and its own mark for blanks.
std::string blanks_alike(std::string text) {
  for (size_t at; (at = text.find("▁")) != text.npos;) text.replace(at, 3, "   ");
  std::ranges::replace(text, '\t', ' ');
  return text;
}

Vocabulary listed(const std::string& model) {
  const Vocabulary plain = Vocabulary::from_bytes(model, "model");
  ListedVocabulary list{
      .segmentation = SegmentationKind::sentencepiece, .special = {.unk = 1, .eos = 0}, .model = model};
  list.pieces = {"</s>", "<unk>", ">>fra<<"};
  list.special.control = {2};
  for (int32_t id = 3; id < plain.size(); ++id) list.pieces.push_back(plain.piece(id));
  return Vocabulary::from_list(list, "list");
}

Vocabulary token_list() {
  return Vocabulary::from_list(
      {.special = {.unk = 1, .eos = 0, .control = {4}}, .pieces = {"</s>", "<unk>", "a", "dog", ">>de<<"}}, "list");
}

Vocabulary merge_list() {
  return Vocabulary::from_list({.segmentation = SegmentationKind::bpe,
                                .special = {.unk = 1, .eos = 0},
                                .pieces = {"</s>", "<unk>", "low@@", "er", "e@@", "s@@", "t"},
                                .model = "r </w>\nl o\nlo w\ne r</w>\n"},
                               "list");
}

// Changes what it reads: several blanks become one, "ﬁ" two letters, full-width letters plain ones.
Vocabulary normalizing() {
  const TemporaryFolder folder;
  std::string text;
  for (const auto& line : travel_text()) text += line + "\n";
  folder.make("text", text);
  train_vocabulary({.inputs = {folder / "text"},
                    .model = folder / "spm",
                    .size = 400,
                    .type = VocabularyType::bpe,
                    .normalization = "nmt_nfkc"});
  return Vocabulary::load(folder / "spm");
}

// Each kind, and lines that are hard for some of them.
class OffsetsOf : public testing::TestWithParam<std::string> {
 protected:
  static Vocabulary vocabulary() {
    if (GetParam() == "tokens") return token_list();
    if (GetParam() == "merges") return merge_list();
    if (GetParam() == "normalizing") return normalizing();
    if (GetParam() == "list") return listed(read_file(golden_models + "unigram.spm"));
    return Vocabulary::load(golden_models + GetParam() + ".spm");
  }

  static Words lines() {
    Words lines = travel_text();
    const Words hard = {"",
                        " ",
                        "  two  blanks\tand a tab ",
                        "žluťoučký kůň, 京都 🙂",
                        "ﬁne ｆｕｌｌ",
                        "▁already▁",
                        std::string("a\0b", 3),
                        "bad \xC3( \xFF",
                        ">>fra<<  Where is it?",
                        ">>de<< a dog",
                        "lower lowest",
                        "</s> <unk>"};
    lines.insert(lines.end(), hard.begin(), hard.end());
    return lines;
  }
};

TEST_P(OffsetsOf, LeadBackToTheLine) {
  const Vocabulary v = vocabulary();
  for (const std::string& line : lines()) {
    const EncodedLine encoded = v.encode_with_offsets(line);
    EXPECT_EQ(encoded.ids, v.encode(line)) << line;
    ASSERT_EQ(encoded.ranges.size(), encoded.ids.size()) << line;
    std::string covered(line.size(), ' ');
    ByteRange last;
    for (const ByteRange& range : encoded.ranges) {
      ASSERT_LE(range.begin, range.end);
      ASSERT_LE(range.end, line.size());
      EXPECT_TRUE(range == last || range.begin >= last.end) << line;
      covered.replace(range.begin, range.size(), line.substr(range.begin, range.size()));
      last = range;
    }
    EXPECT_EQ(blanks_alike(covered), blanks_alike(line)) << "only blanks come from no piece";
  }
}

TEST_P(OffsetsOf, LeadIntoTheDecodedText) {
  const Vocabulary v = vocabulary();
  for (const std::string& line : lines()) {
    Ids ids = v.encode(line);
    ids.insert(ids.begin(), v.eos());
    ids.insert(ids.end(), {v.unk(), v.eos()});
    const DecodedText decoded = v.decode_with_offsets(ids);
    EXPECT_EQ(decoded.text, v.decode(ids)) << line;
    ASSERT_EQ(decoded.ranges.size(), ids.size()) << line;
    std::string covered(decoded.text.size(), ' ');
    ByteRange last;
    for (const ByteRange& range : decoded.ranges) {
      ASSERT_LE(range.begin, range.end);
      ASSERT_LE(range.end, decoded.text.size());
      EXPECT_TRUE(range == last || range.begin >= last.end) << line;
      covered.replace(range.begin, range.size(), decoded.text.substr(range.begin, range.size()));
      last = range;
    }
    EXPECT_EQ(covered, decoded.text) << "only blanks come from no piece";
    EXPECT_EQ(decoded.ranges.front().size(), 0u) << "the end of sentence vanishes";
  }
}

TEST_P(OffsetsOf, LeadToPiecesWhoseTextsMakeUpTheLine) {
  const Vocabulary v = vocabulary();
  const auto without_outer_blanks = [](const std::string& text) {
    const size_t begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  };
  for (const std::string& line : lines()) {
    Ids ids = v.encode(line);
    if (!ids.empty()) ids.insert(ids.begin() + 1, v.eos());
    ids.push_back(v.unk());
    std::string text;
    for (const int32_t id : ids) text += v.text_of(id);
    EXPECT_EQ(without_outer_blanks(text), without_outer_blanks(v.decode(ids))) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabulary, OffsetsOf,
                         testing::Values("bpe", "unigram", "normalizing", "list", "tokens", "merges"),
                         [](const auto& info) { return info.param; });

TEST(Offsets, OfTokensAreThoseOfTheWords) {
  EXPECT_THAT(source_words(token_list(), " a  cat dog "), ElementsAre("a", "cat", "dog"));
  EXPECT_THAT(source_words(token_list(), ">>de<<  a dog"), ElementsAre(">>de<<", "a", "dog"));
  EXPECT_THAT(target_words(token_list(), {4, 2, 1, 3, 0}), ElementsAre("", "a", "⁇", "dog", ""));
}

TEST(Offsets, OfMergesAreThoseOfThePartsOfWords) {
  EXPECT_THAT(source_words(merge_list(), "lower  lowest"), ElementsAre("low", "er", "low", "e", "s", "t"));
  EXPECT_THAT(target_words(merge_list(), {2, 3, 0, 2, 4}), ElementsAre("low", "er", "", "low", "e"));
}

TEST(Offsets, OfSentencePieceIncludeTheBlankBeforeAWord) {
  const Vocabulary v = Vocabulary::load(golden_models + "bpe.spm");
  const Words words = source_words(v, "Where is the castle?");
  EXPECT_THAT(words, testing::IsSupersetOf({"here", " is", " the", "?"}));
  EXPECT_EQ(target_words(v, v.encode("Where is the castle?")), words);
}

TEST(Offsets, OfTheBytesOfACharacterAreThoseOfTheCharacter) {
  const Vocabulary v = Vocabulary::load(golden_models + "bpe.spm");
  const Words words = source_words(v, "京🙂");
  EXPECT_EQ(Words(words.end() - 7, words.end()), (Words{"京", "京", "京", "🙂", "🙂", "🙂", "🙂"}));
  EXPECT_EQ(target_words(v, v.encode("京🙂")), words);
}

TEST(Offsets, AreThoseOfTheLineBeforeNormalisation) {
  const Vocabulary v = normalizing();
  const std::string line = "  Ｗｈｅｒｅ   is ﬁ";
  Words words = source_words(v, line);
  std::string joined;
  for (const std::string& word : words) joined += word;
  EXPECT_EQ(joined, "Ｗｈｅｒｅ   is ﬁ");
  EXPECT_THAT(words.back(), testing::EndsWith("ﬁ"));
  EXPECT_EQ(v.decode(v.encode(line)), "Where is fi");
}

}  // namespace
}  // namespace dragoman
