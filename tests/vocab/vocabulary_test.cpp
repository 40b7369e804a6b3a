#include "vocab/vocabulary.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "vocab/model_facts.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string golden = source_dir() + "/tests/vocab/golden/";

std::vector<int32_t> byte_pieces(const Vocabulary& vocabulary, std::string_view bytes) {
  std::vector<int32_t> ids;
  for (const char c : bytes) {
    const auto one = vocabulary.encode_given_pieces(fmt::format("<0x{:02X}>", uint8_t(c)));
    ids.insert(ids.end(), one.begin(), one.end());
  }
  return ids;
}

std::string joined_pieces(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  std::string line;
  for (const int32_t id : ids) line += (line.empty() ? "" : " ") + vocabulary.piece(id);
  return line;
}

std::string message_of_loading(const std::string& path) {
  try {
    Vocabulary::load(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class OfType : public testing::TestWithParam<std::string> {
 protected:
  const Vocabulary vocabulary = Vocabulary::load(golden + GetParam() + ".spm");
};

// golden/make.py: the Python package, an independent build of the library.
TEST_P(OfType, SplitsAndJoinsAsThePythonPackageDoes) {
  const auto cases = nlohmann::json::parse(read_file(golden + "expected.json")).at(GetParam());
  ASSERT_GT(cases.size(), 10u);
  for (const auto& expected : cases) {
    const auto ids = vocabulary.encode(expected.at("line").get<std::string>());
    EXPECT_EQ(ids, expected.at("ids").get<std::vector<int32_t>>()) << expected.at("line");
    EXPECT_EQ(vocabulary.decode(ids), expected.at("text").get<std::string>());
  }
}

TEST_P(OfType, GivesHostileLinesBackWhole) {
  std::string mebibyte;
  while (mebibyte.size() < 1 << 20) mebibyte += "Die Brücke 京都 ";
  mebibyte.pop_back();
  for (const std::string& line : {std::string(), std::string("a\0b", 3), std::string("\xEF\xBF\xBD"), std::string("\r"),
                                  std::string("</s><s><unk> <0x41>"), std::string(1 << 20, 'm'), mebibyte})
    EXPECT_TRUE(vocabulary.decode(vocabulary.encode(line)) == (line == "\r" ? " " : line)) << line.substr(0, 80);
}

TEST_P(OfType, NeverReadsSpecialPiecesOutOfText) {
  const auto ids = vocabulary.encode("</s> <s> <unk> <0x41>");
  EXPECT_THAT(ids, testing::Each(testing::Gt(2)));
  EXPECT_FALSE(std::ranges::count(ids, byte_pieces(vocabulary, "A").at(0)));
}

TEST_P(OfType, NeverDecodesToMoreThanOneLine) {
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    EXPECT_THAT(vocabulary.decode(std::vector{id}), testing::Not(testing::ContainsRegex("[\n\r]"))) << id;
  EXPECT_EQ(vocabulary.decode(byte_pieces(vocabulary, "a\r\nb")), "a  b");
}

TEST_P(OfType, DecodesBytesThatAreNoUtf8ToReplacementCharacters) {
  EXPECT_EQ(vocabulary.decode(byte_pieces(vocabulary,
                                          "a\xFF\xC3"
                                          "b")),
            "a\uFFFD\uFFFDb");
}

TEST_P(OfType, TakesPiecesThatWereSplitBefore) {
  const std::string line = "Mein Koffer steht am Hafen, 京";
  const auto ids = vocabulary.encode(line);
  EXPECT_EQ(vocabulary.encode_given_pieces(joined_pieces(vocabulary, ids)), ids);
  EXPECT_EQ(vocabulary.encode_given_pieces("  " + joined_pieces(vocabulary, ids) + " "), ids);
  EXPECT_THAT(vocabulary.encode_given_pieces("nopiece </s>"), ElementsAre(vocabulary.unk(), vocabulary.unk()));
  EXPECT_THAT(vocabulary.encode_given_pieces(""), IsEmpty());
}

TEST_P(OfType, SamplesTheSameFromTheSameSeedOnly) {
  const std::vector<std::string> lines(50, "Where is the castle, and where is the harbour?");
  const auto once = vocabulary.encode_block(lines, 0.3, 7);
  EXPECT_EQ(vocabulary.encode_block(lines, 0.3, 7), once);
  EXPECT_NE(vocabulary.encode_block(lines, 0.3, 8), once);
  EXPECT_GT(std::set(once.begin(), once.end()).size(), 10u) << "fifty samples of one line should differ";
  for (const auto& ids : once) EXPECT_EQ(vocabulary.decode(ids), lines[0]);
}

TEST_P(OfType, SamplesTheSameWhileOtherThreadsSample) {
  const std::vector<std::string> lines(20, "We walked to the market at half past nine.");
  const auto alone = vocabulary.encode_block(lines, 0.2, 1);
  std::vector<std::thread> others;
  for (int seed = 2; seed < 6; ++seed) others.emplace_back([&, seed] { vocabulary.encode_block(lines, 0.2, seed); });
  EXPECT_EQ(vocabulary.encode_block(lines, 0.2, 1), alone);
  for (auto& other : others) other.join();
}

TEST_P(OfType, TakesTheBestSegmentationWhenAlphaIsZero) {
  const std::vector<std::string> lines = {"Is there a bus?", "", "Wo ist der Markt?"};
  EXPECT_THAT(vocabulary.encode_block(lines, 0, 1),
              ElementsAre(vocabulary.encode(lines[0]), vocabulary.encode(lines[1]), vocabulary.encode(lines[2])));
}

TEST_P(OfType, ReportsItsFacts) {
  EXPECT_EQ(facts_of(vocabulary.bytes()).type, GetParam());
  EXPECT_EQ(facts_of(vocabulary.bytes()).normalization, "identity");
  EXPECT_EQ(vocabulary.size(), 340);
  EXPECT_THAT((std::vector{vocabulary.unk(), vocabulary.bos(), vocabulary.eos()}), ElementsAre(0, 1, 2));
  EXPECT_EQ(vocabulary.piece(2), "</s>");
  EXPECT_TRUE(vocabulary.has_byte_fallback());
}

TEST_P(OfType, FindsEachPiece) {
  for (int32_t id = 0; id < vocabulary.size(); ++id) EXPECT_EQ(vocabulary.find(vocabulary.piece(id)), id);
  for (const char* other : {"", "nopiece", "▁<unk>"}) EXPECT_EQ(vocabulary.find(other), std::nullopt) << other;
}

INSTANTIATE_TEST_SUITE_P(Vocabulary, OfType, testing::Values("bpe", "unigram"),
                         [](const auto& info) { return info.param; });

TEST(Vocabulary, IsTheSameFromItsBytes) {
  const Vocabulary from_file = Vocabulary::load(golden + "bpe.spm");
  EXPECT_EQ(from_file.bytes(), read_file(golden + "bpe.spm"));
  const Vocabulary from_memory = Vocabulary::from_bytes(from_file.bytes(), "model.safetensors");
  EXPECT_EQ(from_memory.encode("Wo ist der Hafen?"), from_file.encode("Wo ist der Hafen?"));
}

TEST(Vocabulary, SaysWhatItCannotLoad) {
  TemporaryFolder folder;
  const std::string model = read_file(golden + "bpe.spm");
  EXPECT_THAT(message_of_loading(folder / "gone"), HasSubstr("gone: cannot be opened: No such file"));
  EXPECT_THAT(message_of_loading(folder.make("vocab.spm", "<unk>\t0\n<s>\t0\n")),
              HasSubstr("vocab.spm is text, expected a SentencePiece model"));
  for (const std::string& content : {std::string(), model.substr(0, 2000)})
    EXPECT_THAT(message_of_loading(folder.make("vocab.spm", content)),
                HasSubstr("vocab.spm is not a SentencePiece model, or is truncated"));
}

// SentencePiece throws an exception of its own for these, instead of the status that it gives for others.
TEST(Vocabulary, SaysThatAPieceWithoutTextIsDamage) {
  std::string model = read_file(golden + "unigram.spm");
  model.replace(model.rfind("▁"), 3, 3, '\0');
  TemporaryFolder folder;
  EXPECT_THAT(message_of_loading(folder.make("vocab.spm", model)), HasSubstr("is not a SentencePiece model"));
}

TEST(Vocabulary, RefusesNumbersOutsideOfIt) {
  const Vocabulary vocabulary = Vocabulary::load(golden + "bpe.spm");
  EXPECT_THROW(vocabulary.piece(340), Error);
  EXPECT_THROW(vocabulary.decode(std::vector{5, -1}), Error);
}

TEST(ModelFacts, AreEmptyForWhatIsNoModel) {
  EXPECT_EQ(facts_of("").normalization, "");
  EXPECT_EQ(facts_of(std::string(100, '\xFF')).type, "unigram");
  EXPECT_TRUE(facts_of(std::string(100, '\xFF')).protected_symbols.empty());
}

}  // namespace
}  // namespace dragoman
