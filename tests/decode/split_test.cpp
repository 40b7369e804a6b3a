#include "decode/split.h"

#include <gmock/gmock.h>

#include "tests/decode/tiny_translator.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The segments of a line of pieces, each written as its pieces again.
std::vector<std::string> split(const std::string& pieces, int longest) {
  std::vector<std::string> parts;
  for (const auto& ids : split_long(tiny_vocabulary(), tiny_vocabulary().encode_given_pieces(pieces), longest)) {
    std::string part;
    for (const int32_t id : ids) part += tiny_vocabulary().piece(id) + " ";
    parts.push_back(part);
  }
  return parts;
}

TEST(Split, LeavesAloneWhatIsShortEnough) {
  EXPECT_THAT(split("▁a b c", 3), ElementsAre("▁a b c "));
  EXPECT_THAT(split("", 3), IsEmpty());
}

TEST(Split, CutsAfterTheLastSentenceThatEndsInTheSecondHalf) {
  EXPECT_THAT(split("▁a . ▁b c ? ▁a c b", 7), ElementsAre("▁a . ▁b c ? ", "▁a c b "));
}

TEST(Split, TakesAFullStopInsideAWordForNoEnd) {
  EXPECT_THAT(split("▁a b ▁a . b c c", 5), ElementsAre("▁a b ▁a . b ", "c c "));
  EXPECT_THAT(split("▁a b c ▁a . b c c", 5), ElementsAre("▁a b c ", "▁a . b c c "));
}

TEST(Split, CutsBeforeAWordElse) { EXPECT_THAT(split("▁a b ▁a b ▁a b", 5), ElementsAre("▁a b ▁a b ", "▁a b ")); }

TEST(Split, TakesNeitherALoneBlankNorAnUnknownPieceForTheEndOfAWord) {
  EXPECT_THAT(split("▁a b ▁ b b", 4), ElementsAre("▁a b ▁ b ", "b "));
  EXPECT_THAT(split("▁a b zzz b b", 4), ElementsAre("▁a b <unk> b ", "b "));
}

TEST(Split, CutsAnywhereWhenThereIsNeither) {
  EXPECT_THAT(split("a b c a b c a", 3), ElementsAre("a b c ", "a b c ", "a "));
  EXPECT_THAT(split("a b", 1), ElementsAre("a ", "b "));
}

TEST(Split, KnowsTheWordsOfListsOfPieces) {
  const Vocabulary v = Vocabulary::from_list(
      {.special = {.unk = 1, .eos = 0}, .pieces = {"</s>", "<unk>", "a@@", "a", ".", "3@@", ".@@", "5"}}, "list");
  const auto split = [&](const std::vector<int32_t>& ids, int longest) { return split_long(v, ids, longest); };
  using Ids = std::vector<int32_t>;
  EXPECT_THAT(split({2, 2, 3, 2, 3}, 4), ElementsAre(Ids{2, 2, 3}, Ids{2, 3})) << "before a word";
  EXPECT_THAT(split({3, 3, 4, 3, 3, 3}, 5), ElementsAre(Ids{3, 3, 4}, Ids{3, 3, 3})) << "after a sentence";
  EXPECT_THAT(split({3, 3, 3, 5, 6, 7}, 5), ElementsAre(Ids{3, 3, 3}, Ids{5, 6, 7})) << "not within 3.5";
}

TEST(Split, BeginsEachSegmentWithTheLanguage) {
  const Vocabulary v = Vocabulary::from_list(
      {.special = {.unk = 1, .eos = 0}, .pieces = {"</s>", "<unk>", ">>fra<<", "a", "b"}}, "list");
  const auto split = [&](const std::vector<int32_t>& ids, int longest) { return split_long(v, ids, longest); };
  using Ids = std::vector<int32_t>;
  EXPECT_THAT(split({2, 3, 4, 3, 4, 3}, 3), ElementsAre(Ids{2, 3, 4}, Ids{2, 3, 4}, Ids{2, 3}));
  EXPECT_THAT(split({2, 3, 4}, 3), ElementsAre(Ids{2, 3, 4}));
  EXPECT_THAT(split({2}, 3), ElementsAre(Ids{2}));
  EXPECT_THAT(split({3, 2, 4, 3}, 3), ElementsAre(Ids{3, 2, 4}, Ids{3})) << "only in front";
  EXPECT_THAT(split({2, 3, 4}, 1), ElementsAre(Ids{2}, Ids{3}, Ids{4})) << "there is no room";
}

TEST(Split, BeginsEachSegmentWithTheTagsOfTheLine) {
  const Vocabulary v =
      Vocabulary::from_list({.special = {.unk = 1, .eos = 0},
                             .pieces = {"</s>", "<unk>", "▁", "<news>", "<2de>", "<2fr>", "a", "b", "<0x41>"}},
                            "list");
  const auto split = [&](const std::vector<int32_t>& ids, int longest) { return split_long(v, ids, longest); };
  using Ids = std::vector<int32_t>;
  EXPECT_THAT(split({2, 4, 6, 7, 6}, 4), ElementsAre(Ids{2, 4, 6, 7}, Ids{2, 4, 6}));
  EXPECT_THAT(split({2, 3, 2, 4, 3, 6, 7}, 6), ElementsAre(Ids{2, 3, 2, 4, 3, 6}, Ids{2, 3, 2, 4, 3, 7}));
  EXPECT_THAT(split({4, 5, 6, 7}, 3), ElementsAre(Ids{4, 5, 6}, Ids{4, 5, 7}));
  EXPECT_THAT(split({2, 3, 6, 7, 6}, 3), ElementsAre(Ids{2, 3, 6}, Ids{2, 3, 7}, Ids{2, 3, 6})) << "of a domain";
  EXPECT_THAT(split({1, 4, 6}, 2), ElementsAre(Ids{1, 4}, Ids{6})) << "unknown text is no tag";
  EXPECT_THAT(split({2, 4, 6}, 2), ElementsAre(Ids{2, 4}, Ids{6})) << "there is no room";
}

TEST(Split, NeedsRoomForAPiece) {
  for (const int longest : {0, -1}) EXPECT_THROW(split("a b", longest), std::logic_error) << longest;
}

}  // namespace
}  // namespace dragoman
