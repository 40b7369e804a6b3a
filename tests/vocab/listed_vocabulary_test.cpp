#include "vocab/listed_vocabulary.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/line_writer.h"
#include "tests/error_of.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "tests/vocab/travel_text.h"
#include "vocab/container.h"
#include "vocab/model_facts.h"
#include "vocab/summary.h"
#include "vocab/training.h"
#include "vocab/vocabulary.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Ids = std::vector<int32_t>;

const std::string golden_folder = source_dir() + "/tests/vocab/golden/";

Vocabulary made(const ListedVocabulary& list) { return Vocabulary::from_list(list, "list"); }

ListedVocabulary tokens() {
  return {.special = {.unk = 1, .eos = 0, .pad = 5, .control = {4}},
          .pieces = {"</s>", "<unk>", "a", "dog", ">>de<<", "<pad>"}};
}

ListedVocabulary merges() {
  return {.segmentation = SegmentationKind::bpe,
          .special = {.unk = 3, .bos = 0, .eos = 2, .pad = 1},
          .pieces = {"<s>", "<pad>", "</s>", "<unk>", "low@@", "er", "e@@", "s@@", "t"},
          .model = "r </w>\nl o\nlo w\ne r</w>\n"};
}

// A model without bytes: characters that it lacks stand for themselves.
std::string without_bytes(VocabularyType type) {
  const TemporaryFolder folder;
  LineWriter writer(folder / "text");
  for (const auto& line : travel_text()) writer.write(line);
  writer.close();
  train_vocabulary({.inputs = {folder / "text"},
                    .model = folder / "spm",
                    .size = 120,
                    .type = type,
                    .normalization = "identity",
                    .byte_fallback = false});
  return folder.content_of("spm");
}

// All pieces of the model in the other order, in the middle of others.
ListedVocabulary sentencepiece(const std::string& model) {
  ListedVocabulary list{.segmentation = SegmentationKind::sentencepiece, .model = model};
  list.pieces = {"</s>", "<unk>", "京", "__de__"};
  list.special = {.unk = 1, .eos = 0, .control = {3}};
  const Vocabulary plain = Vocabulary::from_bytes(model, "model");
  for (int32_t id = plain.size(); --id > 2;) list.pieces.push_back(plain.piece(id));
  list.pieces.push_back("<pad>");
  list.special.pad = int32_t(list.pieces.size()) - 1;
  return list;
}

std::vector<ListedVocabulary> of_all_kinds() {
  return {tokens(), merges(), sentencepiece(read_file(golden_folder + "bpe.spm")),
          sentencepiece(read_file(golden_folder + "unigram.spm"))};
}

TEST(ListedVocabulary, IsTheSameFromItsBytes) {
  const TemporaryFolder folder;
  for (const ListedVocabulary& list : of_all_kinds()) {
    const Vocabulary once = made(list);
    const Vocabulary again = Vocabulary::from_bytes(once.bytes(), "bytes");
    EXPECT_EQ(again.bytes(), once.bytes());
    EXPECT_EQ(to_container(from_container(once.bytes(), "bytes")), once.bytes());
    EXPECT_EQ(Vocabulary::load(folder.make("any", once.bytes())).bytes(), once.bytes());
    EXPECT_EQ(again.size(), int(list.pieces.size()));
    EXPECT_EQ(again.encode("a lower dog 京"), once.encode("a lower dog 京"));
    EXPECT_EQ((Ids{again.unk(), again.bos(), again.eos(), again.pad()}),
              (Ids{list.special.unk, list.special.bos, list.special.eos, list.special.pad}));
    EXPECT_EQ(kind_of_file(std::string_view(once.bytes()).substr(0, 512)), "a dragoman vocabulary");
  }
}

TEST(ListedVocabulary, FindsEachPiece) {
  for (const ListedVocabulary& list : {tokens(), merges()}) {
    const Vocabulary vocabulary = made(list);
    for (int32_t id = 0; id < vocabulary.size(); ++id) EXPECT_EQ(vocabulary.find(vocabulary.piece(id)), id);
    EXPECT_EQ(vocabulary.find("nopiece"), std::nullopt);
  }
}

TEST(ListedVocabulary, OfTokensSplitsAtBlanks) {
  const Vocabulary v = made(tokens());
  EXPECT_THAT(v.encode(" a  dog cat a "), ElementsAre(2, 3, 1, 2));
  EXPECT_THAT(v.encode(""), IsEmpty());
  EXPECT_THAT(v.encode("</s> <unk> >>de<< <pad> a"), ElementsAre(1, 1, 1, 1, 2)) << "special pieces are no text";
  EXPECT_THAT(v.encode_given_pieces("</s> >>de<< <pad> a cat"), ElementsAre(1, 4, 1, 2, 1)) << "but may be given";
  EXPECT_THAT(v.encode_pieces(" a  cat"), ElementsAre("a", "cat"));
  EXPECT_EQ(v.decode(Ids{4, 2, 3, 1, 0, 5}), "a dog ⁇");
  EXPECT_EQ(v.decode(Ids{}), "");
  EXPECT_EQ(v.decode_pieces({"a", "</s>", "b\nc"}), "a </s> b c");
  EXPECT_FALSE(v.has_byte_fallback());
  EXPECT_THROW(v.decode(Ids{6}), Error);
  EXPECT_THROW(v.piece(6), Error);
}

TEST(ListedVocabulary, OfTokensJoinsThoseOfSubwordNmt) {
  ListedVocabulary list = tokens();
  list.pieces.insert(list.pieces.end(), {"lo@@", "w@@", "er", "@@"});
  const Vocabulary v = made(list);
  EXPECT_TRUE(facts_of(v.bytes()).joins_tokens);
  EXPECT_THAT(v.encode("lo@@ w@@ er dog"), ElementsAre(6, 7, 8, 3)) << "text is already split";
  EXPECT_EQ(v.decode(Ids{6, 7, 8, 3, 1, 0}), "lower dog ⁇");
  EXPECT_EQ(v.decode(Ids{3, 6}), "dog lo") << "the last piece ends its word";
  EXPECT_EQ(v.decode_pieces({"lo@@", "w@@", "er", "a"}), "lower a");
  EXPECT_EQ(v.text_of(6) + v.text_of(8) + v.text_of(3), "loer dog ");
  const DecodedText text = v.decode_with_offsets(Ids{6, 8, 3});
  EXPECT_EQ(text.text.substr(text.ranges[1].begin, text.ranges[1].end - text.ranges[1].begin), "er");
  for (int i = 0; i < 300; ++i) list.pieces.push_back(fmt::format("word{}", i));
  const Vocabulary words = made(list);
  EXPECT_FALSE(facts_of(words.bytes()).joins_tokens) << "two of 310 are words that happen to end so";
  EXPECT_EQ(words.decode(Ids{6, 8, 3}), "lo@@ er dog");
  EXPECT_FALSE(facts_of(made(merges()).bytes()).joins_tokens) << "it splits text itself";
}

TEST(ListedVocabulary, OfMergesSplitsWords) {
  const Vocabulary v = made(merges());
  EXPECT_THAT(v.encode("lower lowest"), ElementsAre(4, 5, 4, 6, 7, 8));
  EXPECT_THAT(v.encode("lowx </s>"), ElementsAre(4, 3, 3, 3, 7, 3)) << "</s> is four characters";
  EXPECT_THAT(v.encode(""), IsEmpty());
  EXPECT_THAT(v.encode_pieces("lower x"), ElementsAre("low@@", "er", "x"));
  EXPECT_EQ(v.decode(Ids{0, 4, 5, 3, 4, 6, 7, 8, 2}), "lower ⁇ lowest");
  EXPECT_EQ(v.decode_pieces(v.encode_pieces("京都 lower")), "京都 lower");
}

class ListedSentencePiece : public testing::TestWithParam<VocabularyType> {};

TEST_P(ListedSentencePiece, GivesThePiecesOfTheModelTheIdsOfTheList) {
  const std::string model = read_file(golden_folder + std::string(name_of(GetParam())) + ".spm");
  const Vocabulary plain = Vocabulary::from_bytes(model, "model"), v = made(sentencepiece(model));
  EXPECT_TRUE(v.has_byte_fallback());
  for (std::string line : travel_text()) {
    line += " 京都 </s> <unk> __de__ <pad> <0x41>";
    Ids expected = plain.encode(line);
    for (int32_t& id : expected) id = plain.size() + 3 - id;
    const Ids ids = v.encode(line);
    EXPECT_EQ(ids, expected);
    EXPECT_EQ(v.encode_pieces(line), plain.encode_pieces(line));
    EXPECT_EQ(v.decode(ids), line);
    EXPECT_THAT(ids, Each(testing::AllOf(testing::Ge(4), testing::Ne(v.pad()))));
  }
  EXPECT_EQ(v.decode(Ids{3, v.encode("Hafen").at(0), 0, v.pad()}), plain.decode(Ids{plain.encode("Hafen").at(0)}));
  EXPECT_THAT(v.encode(""), IsEmpty());
}

TEST_P(ListedSentencePiece, EncodesCharactersThatOnlyTheListHolds) {
  ListedVocabulary list = sentencepiece(without_bytes(GetParam()));
  const auto ids = [&](std::string_view line) { return made(list).encode(line); };
  EXPECT_THAT(ids("a 京"), testing::Contains(2));
  EXPECT_THAT(ids("a 都"), testing::Contains(1));
  EXPECT_EQ(made(list).decode(ids("a 京")), "a 京");
  EXPECT_THAT(made(list).decode(ids("a 都")), HasSubstr("⁇"));
  list.pieces[0] = "都都", list.pieces[3] = "市";
  EXPECT_THAT(ids("a 都都"), testing::AllOf(testing::Contains(1), testing::Not(testing::Contains(0))));
  EXPECT_THAT(ids("a 市"), testing::AllOf(testing::Contains(1), testing::Not(testing::Contains(3))));
}

TEST_P(ListedSentencePiece, MayHaveFewerPiecesThanTheModel) {
  const std::string model = read_file(golden_folder + std::string(name_of(GetParam())) + ".spm");
  const Vocabulary v = made({.segmentation = SegmentationKind::sentencepiece,
                             .special = {.unk = 1, .eos = 0},
                             .pieces = {"</s>", "<unk>", "▁"},
                             .model = model});
  EXPECT_THAT(v.encode("Hafen"), Each(testing::AnyOf(1, 2)));
  EXPECT_FALSE(v.has_byte_fallback());
}

// OPUS-MT's lists hold the pieces of two models: those of the source's are not in the target's.
TEST_P(ListedSentencePiece, DecodesPiecesThatOnlyTheListHolds) {
  ListedVocabulary list = sentencepiece(without_bytes(GetParam()));
  const auto first = int32_t(list.pieces.size());
  for (const char* piece : {"▁Smythe", "▁Öztürk", "京▁都"}) list.pieces.push_back(piece);
  const Vocabulary v = made(list);
  const int32_t a = v.encode("a").at(0);
  const auto decoded = [&](const Ids& ids) {
    const DecodedText d = v.decode_with_offsets(ids);
    std::vector<std::string> parts = {d.text};
    for (const ByteRange& r : d.ranges) parts.push_back(d.text.substr(r.begin, r.size()));
    return parts;
  };
  EXPECT_THAT(decoded({a, first, first + 1, a}), ElementsAre("a Smythe Öztürk a", "a", " Smythe", " Öztürk", " a"));
  EXPECT_THAT(decoded({first, a, first + 2}), ElementsAre("Smythe a京 都", "Smythe", " a", "京 都"));
  EXPECT_THAT(decoded({0, first + 1}), ElementsAre("Öztürk", "", "Öztürk"));
}

TEST_P(ListedSentencePiece, SamplesAsTheModelDoes) {
  const std::string model = read_file(golden_folder + std::string(name_of(GetParam())) + ".spm");
  const Vocabulary plain = Vocabulary::from_bytes(model, "model"), v = made(sentencepiece(model));
  const std::vector<std::string> lines(20, "Where is the castle, and where is the harbour?");
  auto expected = plain.encode_block(lines, 0.3, 7);
  for (Ids& ids : expected)
    for (int32_t& id : ids) id = plain.size() + 3 - id;
  EXPECT_EQ(v.encode_block(lines, 0.3, 7), expected);
}

TEST_P(ListedSentencePiece, ReportsItsFacts) {
  const ModelFacts facts =
      facts_of(made(sentencepiece(read_file(golden_folder + std::string(name_of(GetParam())) + ".spm"))).bytes());
  EXPECT_EQ(facts.type, std::string(name_of(GetParam())) + " with a list");
  EXPECT_EQ(facts.normalization, "identity");
}

INSTANTIATE_TEST_SUITE_P(Vocabulary, ListedSentencePiece, testing::Values(VocabularyType::bpe, VocabularyType::unigram),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(ListedVocabulary, SamplesNothingWithoutSentencePiece) {
  const std::vector<std::string> lines = {"a dog", "", "lower"};
  for (const ListedVocabulary& list : {tokens(), merges()}) {
    const Vocabulary v = made(list);
    EXPECT_EQ(v.encode_block(lines, 0, 1).at(2), v.encode("lower"));
    EXPECT_THAT(error_of([&] { v.encode_block(lines, 0.1, 1); }), HasSubstr("alpha 0.1"));
  }
}

TEST(ListedVocabulary, ReportsItsFacts) {
  EXPECT_EQ(facts_of(made(tokens()).bytes()).type, "tokens");
  EXPECT_EQ(facts_of(made(merges()).bytes()).type, "merges");
  EXPECT_THAT(summary_of(made(tokens())).learned, ElementsAre(2, 3, 4));
}

TEST(ListedVocabulary, ChecksWhatItIsMadeOf) {
  const auto message_of = [](auto change) {
    ListedVocabulary list = tokens();
    change(list);
    return error_of([&] { made(list); });
  };
  EXPECT_THAT(message_of([](auto& l) { l.pieces[3] = "a"; }), HasSubstr("list: piece 3, \"a\", is piece 2 already"));
  EXPECT_THAT(message_of([](auto& l) { l.pieces[3] += '\0'; }), HasSubstr("list: piece 3 holds a NUL"));
  EXPECT_THAT(message_of([](auto& l) { l.special.unk = -1; }), HasSubstr("list: the id of unk is -1, expected 0 to 5"));
  EXPECT_THAT(message_of([](auto& l) { l.special.eos = 6; }), HasSubstr("list: the id of eos is 6, expected 0 to 5"));
  EXPECT_THAT(message_of([](auto& l) { l.special.pad = -2; }), HasSubstr("the id of pad is -2, expected -1 to 5"));
  EXPECT_THAT(message_of([](auto& l) { l.special.control = {-1}; }), HasSubstr("the id of a control piece is -1"));
  EXPECT_THAT(message_of([](auto& l) { l.model = "x"; }), HasSubstr("list: a vocabulary of tokens has a model"));
  EXPECT_THAT(message_of([](auto& l) { l.segmentation = SegmentationKind::sentencepiece; }),
              HasSubstr("list is not a SentencePiece model"));
  EXPECT_THAT(message_of([](auto& l) { l.segmentation = SegmentationKind::bpe; }),
              HasSubstr("list contains no merges"));
}

TEST(Container, SaysWhatIsWrong) {
  const std::string sound = made(merges()).bytes();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bytes = sound;
    bytes.replace(bytes.find(from), from.size(), to);
    return error_of([&] { Vocabulary::from_bytes(bytes, "m: v"); });
  };
  for (size_t size = sound.find('\n') + 1; size < sound.size(); ++size)
    EXPECT_THAT(error_of([&] { Vocabulary::from_bytes(sound.substr(0, size), "m: v"); }),
                HasSubstr("m: v: the vocabulary is damaged or cut off"));
  EXPECT_THAT(error_of([&] { Vocabulary::from_bytes(sound.substr(0, 60), "m: v"); }),
              HasSubstr("cut off in its header"));
  EXPECT_THAT(with("\"bpe\"", "\"words\""), HasSubstr("segmentation \"words\", expected sentencepiece, tokens, bpe"));
  EXPECT_THAT(with("\"version\":1", "\"version\":2"), HasSubstr("a vocabulary of version 2, expected 1"));
  EXPECT_THAT(with("\"pieces\":9", "\"pieces\":8"), HasSubstr("has 9 pieces, its header says 8"));
  EXPECT_THAT(with("\"eos\":2", "\"eos\":9"), HasSubstr("the id of eos is 9"));
  EXPECT_THAT(with("\"eos\":2", "\"eos\":4294967296"), HasSubstr("the id of eos is 2147483647"));
  EXPECT_THAT(with("\"eos\":2", "\"eos\":1e0"), HasSubstr("'eos' in the header"));
  EXPECT_THAT(with("\"eos\":2", "\"eoz\":2"), HasSubstr("has no 'eos'"));
  EXPECT_THAT(with("[]", "[\"a\"]"), HasSubstr("'control'"));
  EXPECT_THAT(with("[]", "{}"), HasSubstr("no list 'control'"));
  EXPECT_THAT(with("}\n", "\n"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(with("low@@", "<pad>"), HasSubstr("piece 4, \"<pad>\", is piece 1 already"));
}

TEST(Vocabulary, LoadsMariansLists) {
  const TemporaryFolder folder;
  for (const auto& [name, content] : {std::pair{"v.yml", "</s>: 0\n<unk>: 1\n\"a\": 2\n"},
                                      {"v.yaml", "a: 2\n"},
                                      {"v.json", R"({"a": 2, "eos": 0, "UNK": 1})"},
                                      {"v.txt", "</s>\n<unk>\na\n"}}) {
    const Vocabulary v = Vocabulary::load(folder.make(name, content));
    EXPECT_THAT((Ids{v.eos(), v.unk(), v.bos(), v.pad()}), ElementsAre(0, 1, -1, -1)) << name;
    EXPECT_THAT(v.encode("a b"), ElementsAre(2, 1)) << name;
  }
  const std::string model = read_file(golden_folder + "bpe.spm");
  EXPECT_EQ(Vocabulary::load(folder.make("spm.yml", model)).bytes(), model) << "a model with the name of a list";
  EXPECT_EQ(Vocabulary::load(folder.make("c.json", made(merges()).bytes())).size(), 9);
  EXPECT_THAT(error_of([&] { Vocabulary::load(folder.make("twice.yml", "a: 2\na: 3\n")); }),
              HasSubstr("twice.yml: piece 3, \"a\", is piece 2 already"));
}

}  // namespace
}  // namespace dragoman
