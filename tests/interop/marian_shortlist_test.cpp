#include "interop/marian_shortlist.h"

#include <gmock/gmock.h>

#include <cstring>

#include "base/error.h"
#include "interop/open_shortlist.h"
#include "io/safetensors.h"
#include "tests/bytes_of.h"
#include "tests/error_of.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Marian's binary shortlist. The checksum is written out here once more: the test is its second opinion.
struct Binary {
  std::vector<uint64_t> begins;
  std::vector<uint32_t> best;
  uint64_t first = 3;

  std::string content() const {
    return bytes_of<uint64_t>({first, 100, begins.size(), best.size()}) + bytes_of(begins) + bytes_of(best);
  }
  std::string file() const {
    const std::string data = content();
    uint64_t sum = 0;
    for (size_t i = 0; i < data.size() / 8; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, &data[8 * i], 8);
      sum = sum ^ (word + 0x9e3779b9U + sum * 64 + sum / 4);
    }
    return bytes_of<uint64_t>({0xF11A48D5013417F5, sum}) + data;
  }
};

class MarianShortlist : public testing::Test {
 protected:
  /// Source piece 40 has the pieces 64 and 5, the last one has 70; an odd number of them.
  Binary sound() const {
    Binary b{.begins = std::vector<uint64_t>(size_t(unigram.size()) + 1, 2), .best = {64, 5, 70}};
    std::fill(b.begins.begin(), b.begins.begin() + 41, 0);
    b.begins.back() = 3;
    return b;
  }
  Shortlist open(const std::string& content, const ShortlistLimits& limits = {}, const std::string& name = "list") {
    return open_shortlist(folder.make(name, content), limits, unigram, bpe);
  }
  void expect_error(const std::string& content, const std::string& what) {
    EXPECT_THAT([&] { open(content); }, ThrowsMessage<Error>(testing::AllOf(HasSubstr("list"), HasSubstr(what))));
  }
  std::string line(int32_t target, int32_t source, const std::string& probability) const {
    return bpe.piece(target) + " " + unigram.piece(source) + " " + probability + "\n";
  }

  const Vocabulary bpe = Vocabulary::load(source_dir() + "/tests/vocab/golden/bpe.spm");
  const Vocabulary unigram = Vocabulary::load(source_dir() + "/tests/vocab/golden/unigram.spm");
  const TemporaryFolder folder;
};

TEST_F(MarianShortlist, HasTheFirstPiecesAndThoseOfTheSource) {
  const Shortlist s = open(sound().file());
  EXPECT_THAT(s.candidates(std::vector{40}), ElementsAre(0, 1, 2, 5, 64));
  EXPECT_THAT(s.candidates(std::vector{unigram.size() - 1, 40}), ElementsAre(0, 1, 2, 5, 64, 70));
  EXPECT_THAT(s.candidates(std::vector{39}), ElementsAre(0, 1, 2));
}

TEST_F(MarianShortlist, AlwaysAllowsTheEndAndItsTranslations) {
  Binary b = sound();
  b.first = 0;
  EXPECT_THAT(open(b.file()).candidates({}), ElementsAre(bpe.eos()));
  for (size_t piece = size_t(unigram.eos()) + 1; piece < 41; ++piece) b.begins[piece] = 1;
  EXPECT_THAT(open(b.file()).candidates({}), ElementsAre(bpe.eos(), 64));
}

// The checksum of a file is that of its 64-bit words by hand: 1, then 2.
TEST_F(MarianShortlist, HasTheChecksumOfMarian) {
  const uint64_t one = 1 + 0x9e3779b9ULL, sum = one ^ (2 + 0x9e3779b9ULL + (one << 6) + (one >> 2));
  const std::string content = bytes_of<uint64_t>({1, 2, 0, 0});
  const std::string begin = bytes_of<uint64_t>({0xF11A48D5013417F5, 0});
  const uint64_t third = sum ^ (0x9e3779b9ULL + (sum << 6) + (sum >> 2));
  const uint64_t fourth = third ^ (0x9e3779b9ULL + (third << 6) + (third >> 2));
  expect_error(begin + content, fmt::format("the content has the checksum {:016x}, expected {:016x}", fourth, 0));
}

TEST_F(MarianShortlist, IsRefusedWhenDamaged) {
  const std::string whole = sound().file();
  for (size_t size = 8; size < 48; ++size) expect_error(whole.substr(0, size), "bytes, expected 48 or more");
  for (size_t size = 48; size < whole.size(); ++size) expect_error(whole.substr(0, size), "its header announces");
  expect_error(whole + "x", "its header announces");
  for (size_t at = 8; at + 4 < whole.size(); ++at) {  // the last half word has no checksum
    std::string flipped = whole;
    flipped[at] = char(flipped[at] ^ 1);
    EXPECT_THROW(open(flipped), Error) << at;
  }
  for (const uint64_t size : {~uint64_t{0}, uint64_t{1} << 61, uint64_t{1} << 62})
    for (const size_t field : {32, 40}) {
      std::string lying = whole;
      lying.replace(field, 8, bytes_of<uint64_t>({size}));
      expect_error(lying, "its header announces");
    }
}

TEST_F(MarianShortlist, IsRefusedWhenItMakesNoSense) {
  Binary b = sound();
  b.best[1] = uint32_t(bpe.size());
  expect_error(b.file(),
               fmt::format("lists target piece {0}, and the model has pieces 0 to {1}", bpe.size(), bpe.size() - 1));
  b = sound();
  b.best[2] = 1U << 31;
  expect_error(b.file(), "lists target piece 2147483648");
  b = sound();
  b.begins.pop_back();
  expect_error(b.file(),
               fmt::format("was made for {} source pieces, and the model has {}", unigram.size() - 1, unigram.size()));
  b.begins.clear();
  expect_error(b.file(), "was made for 0 source pieces");
  for (const auto& [at, value] : {std::pair<size_t, uint64_t>{0, 1}, {5, 3}, {60, ~uint64_t{0}}}) {
    b = sound();
    b.begins[at] = value;
    expect_error(b.file(), "do not divide its 3 translations");
  }
  b = sound();
  std::fill(b.begins.begin(), b.begins.begin() + 41, 1);
  expect_error(b.file(), "do not divide its 3 translations");
  b = sound();
  b.begins.back() = 2;
  expect_error(b.file(), "do not divide its 3 translations");
}

TEST_F(MarianShortlist, SharedVocabulariesTranslatePiecesByThemselves) {
  const std::string table = folder.make("table", bpe.piece(50) + " " + bpe.piece(40) + " 1\n");
  const Shortlist s = open_shortlist(table, {.first = 0}, bpe, bpe);
  EXPECT_THAT(s.candidates(std::vector{40, 45}), ElementsAre(bpe.eos(), 40, 45, 50));
}

TEST_F(MarianShortlist, OfATableHasTheMostProbable) {
  const std::string table = line(50, 40, "0.2") + line(51, 40, "5e-1") + "\n" + line(52, 40, "0.2") +
                            line(53, 40, "0") + line(54, 41, "1e-60") + "NULL " + unigram.piece(40) + " 0.9\n" +
                            bpe.piece(60) + " NULL 0.9\n";
  const auto candidates = [&](const ShortlistLimits& limits) {
    return open(table, limits).candidates(std::vector{40, 41});
  };
  EXPECT_THAT(candidates({.first = 0}), ElementsAre(bpe.eos(), 50, 51, 52));
  EXPECT_THAT(candidates({.first = 0, .best = 1}), ElementsAre(bpe.eos(), 51));
  EXPECT_THAT(candidates({.first = 0, .best = 2}), ElementsAre(bpe.eos(), 51, 52)) << "of equal ones the higher id";
  EXPECT_THAT(candidates({.first = 0, .threshold = 0.2F}), ElementsAre(bpe.eos(), 51));
  EXPECT_THAT(candidates({.first = 4, .best = 0}), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(candidates({.first = 1 << 20}).size(), size_t(bpe.size()));
}

TEST_F(MarianShortlist, OfATableHasTheLastOfEqualLinesAndUnknownPieces) {
  const std::string table =
      line(50, 40, "0.9") + line(50, 40, "0") + line(51, 40, "0.1") + bpe.piece(55) + "\tnopiece\t0.5\n";
  const Shortlist s = open(table, {.first = 0});
  EXPECT_THAT(s.candidates(std::vector{40}), ElementsAre(bpe.eos(), 51));
  EXPECT_THAT(s.candidates(std::vector{unigram.unk()}), ElementsAre(bpe.eos(), 55));
}

TEST_F(MarianShortlist, OfATableIsRefusedWhenItIsNone) {
  const std::string good = line(50, 40, "0.9");
  for (const char* bad :
       {"a b\n", "a b 0.5 c\n", "a b c\n", "a b nan\n", "a b inf\n", "a b -1\n", "a b 1e400\n", "a b 0.5x\n"})
    expect_error(good + bad, "line 2 is not 'target source probability'");
  for (const char* foreign : {"", "nopiece nopiece 0.5\n", "NULL NULL 1\n"})
    expect_error(foreign, "no line has pieces of both");
}

TEST_F(MarianShortlist, IsNoOtherBinaryFile) {
  EXPECT_EQ(
      thrown_by([&] { open(bpe.bytes()); }).hint(),
      "give a text file with 'target source probability' in each line, or a file of dragoman align --shortlist or "
      "Marian");
}

TEST_F(MarianShortlist, OfDragomanIsOpenedToo) {
  std::vector<int32_t> begins(size_t(unigram.size()) + 1, 0);
  begins.back() = 1;
  save_shortlist(folder / "ours", {{2}, begins, {7}, bpe.size()}, unigram, bpe);
  EXPECT_THAT(open_shortlist(folder / "ours", {}, unigram, bpe).candidates(std::vector{unigram.size() - 1}),
              ElementsAre(2, 7));
}

TEST_F(MarianShortlist, MayHaveTheFirstPiecesAlone) {
  Binary b = sound();
  b.best.clear();
  std::fill(b.begins.begin(), b.begins.end(), 0);
  EXPECT_THAT(open(b.file()).candidates(std::vector{40}), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace dragoman
