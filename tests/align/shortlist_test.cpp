#include "align/shortlist.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "io/safetensors.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Vocabulary vocabulary(const std::string& name) {
  return Vocabulary::load(source_dir() + "/tests/vocab/golden/" + name + ".spm");
}

class ShortlistTest : public testing::Test {
 protected:
  void expect_error(const std::string& path, const std::string& what) {
    EXPECT_THAT([&] { load_shortlist(path, bpe, bpe); }, ThrowsMessage<Error>(HasSubstr(what)));
  }
  /// A file with these tensors in place of those of `shortlist`.
  std::string with(std::vector<int32_t> first, std::vector<int32_t> begins, std::vector<int32_t> best) {
    const Shortlist s{std::move(first), std::move(begins), std::move(best), bpe.size()};
    save_shortlist(folder / "s", s, bpe, bpe);
    return folder / "s";
  }
  std::vector<int32_t> begins(int32_t entries) const {  // all of the last source piece
    std::vector<int32_t> b(size_t(bpe.size()) + 1, 0);
    b.back() = entries;
    return b;
  }

  const Vocabulary bpe = vocabulary("bpe"), unigram = vocabulary("unigram");
  TemporaryFolder folder;
};

TEST_F(ShortlistTest, HasFrequentPiecesAndThoseOfTheSource) {
  const Shortlist s{.first = {2, 70, 300}, .begins = {0, 0, 2, 3}, .best = {64, 5, 70}, .target_vocabulary = 301};
  EXPECT_THAT(s.candidates({}), ElementsAre(2, 70, 300));
  EXPECT_THAT(s.candidates(std::vector{1, 1, 0}), ElementsAre(2, 5, 64, 70, 300));
  EXPECT_THAT(s.candidates(std::vector{2}), ElementsAre(2, 70, 300));
}

// Source piece 40 meets 50 three times and 51 once; 60 is the most frequent target piece.
TEST_F(ShortlistTest, TakesTheMostProbableTranslations) {
  ParallelIds pairs;
  for (int i = 0; i < 3; ++i) pairs.add(std::vector{40}, std::vector{50});
  pairs.add(std::vector{40}, std::vector{51});
  for (int i = 0; i < 5; ++i) pairs.add(std::vector{41}, std::vector{60});
  TranslationTable table(pairs, bpe.size());
  table.count(table.find(40, 50), 3);
  table.count(table.find(40, 51), 1);
  table.count(table.find(41, 60), 5);
  table.estimate(0);
  const auto candidates = [&](const ShortlistOptions& options, int32_t piece) {
    return make_shortlist(table, pairs, bpe, bpe, options).candidates(std::vector{piece});
  };
  EXPECT_THAT(candidates({.first = 0, .best = 1}, 40), ElementsAre(2, 40, 50)) << "</s>, a copy, the best";
  EXPECT_THAT(candidates({.first = 0, .best = 9}, 40), ElementsAre(2, 40, 50, 51));
  EXPECT_THAT(candidates({.first = 1, .best = 1}, 40), ElementsAre(2, 40, 50, 60));
  EXPECT_THAT(candidates({.first = 2, .best = 1}, 99), ElementsAre(2, 50, 60, 99)) << "a piece that was never seen";
}

TEST_F(ShortlistTest, ReadsWhatItWrote) {
  const std::string path = with({2, 5}, begins(3), {7, 8, 9});
  const Shortlist read = load_shortlist(path, bpe, bpe);
  EXPECT_THAT(read.candidates(std::vector{bpe.size() - 1}), ElementsAre(2, 5, 7, 8, 9));
  EXPECT_THAT(read.candidates(std::vector{bpe.size() - 2}), ElementsAre(2, 5));
}

TEST_F(ShortlistTest, IsRefusedWithOtherVocabularies) {
  const std::string path = with({2}, begins(1), {7});
  EXPECT_THAT([&] { load_shortlist(path, unigram, bpe); },
              ThrowsMessage<Error>(HasSubstr("was made for another source vocabulary than the model's")));
  EXPECT_THAT([&] { load_shortlist(path, bpe, unigram); },
              ThrowsMessage<Error>(HasSubstr("was made for another target vocabulary than the model's")));
}

TEST_F(ShortlistTest, IsRefusedWhenItIsEmptyOrMakesNoSense) {
  expect_error(with({2}, begins(0), {}), "is an empty shortlist");
  expect_error(with({2}, begins(1), {bpe.size()}), "out of range, expected 0 to");
  expect_error(with({-1}, begins(1), {7}), "out of range");
  expect_error(with({2}, begins(2), {7}), "does not divide the 1 ids of 'best'");
  expect_error(with({2}, {0, 1}, {7}), "does not divide the 1 ids of 'best'");
  auto falling = begins(1);
  falling[1] = 2;
  expect_error(with({2}, falling, {7}), "does not divide");
}

TEST_F(ShortlistTest, IsRefusedWhenTheFileIsAnotherOrDamaged) {
  write_safetensors(folder / "m", {}, {{"format", "dragoman"}});
  expect_error(folder / "m", "not a dragoman shortlist");
  write_safetensors(folder / "m", {}, {{"format", "dragoman-shortlist"}, {"version", "2"}});
  expect_error(folder / "m", "of version 2, this dragoman reads 1");
  const SafetensorsFile sound(with({2}, begins(1), {7}));
  const std::vector<int64_t> wide = {2};
  write_safetensors(
      folder / "wide",
      {{"first", DType::i64, {1}, std::as_bytes(std::span(wide))}, sound.get("begins"), sound.get("best")},
      sound.metadata());
  expect_error(folder / "wide", folder / "wide" + ": tensor first is of type I64, expected I32");
  std::string content = folder.content_of("s");
  content.back() = char(content.back() ^ 1);
  expect_error(folder.make("flipped", content), "the content has the checksum");
  expect_error(folder.make("text", "no safetensors"), "is text, expected a model");
}

}  // namespace
}  // namespace dragoman
