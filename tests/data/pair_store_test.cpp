#include "data/pair_store.h"

#include <gmock/gmock.h>

#include "base/philox.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

TEST(PairStore, GivesBackWhatWasAdded) {
  PairStore pairs;
  EXPECT_EQ(pairs.size(), 0);
  pairs.add({7, std::vector{5, 2}, std::vector{6, 6, 2}});
  pairs.add({9, std::vector{8, 8, 8, 2}, std::vector{2}});
  ASSERT_EQ(pairs.size(), 2);
  EXPECT_EQ(pairs[1].line, 9);
  EXPECT_THAT(pairs[0].source, ElementsAre(5, 2));
  EXPECT_THAT(pairs[0].target, ElementsAre(6, 6, 2));
  EXPECT_THAT(pairs[1].source, ElementsAre(8, 8, 8, 2));
  EXPECT_THAT(pairs[1].target, ElementsAre(2));
  EXPECT_EQ(pairs.source_length(1), 4);
  EXPECT_EQ(pairs.target_length(0), 3);
  EXPECT_EQ(pairs.source_tokens(), 6);
  EXPECT_EQ(pairs.target_tokens(), 4);
  EXPECT_EQ(pairs.mean_weight(), 1);
}

TEST(PairStore, KeepsWeightsWhenItIsMadeForThem) {
  PairStore plain, weighted(true);
  for (PairStore* pairs : {&plain, &weighted})
    for (const float weight : {0.25f, 1.75f}) pairs->add({3, std::vector{5, 2}, std::vector{6, 2}, weight});
  EXPECT_EQ(plain[1].weight, 1);
  EXPECT_EQ(weighted[0].weight, 0.25f);
  EXPECT_EQ(weighted[1].weight, 1.75f);
  weighted.add({4, std::vector{5, 2}, std::vector{6, 6, 6, 2}, 0});
  EXPECT_EQ(weighted.mean_weight(), 4.0 / 8);
  EXPECT_EQ(plain.mean_weight(), 1);
  EXPECT_THAT(weighted[1].target, ElementsAre(6, 2));
}

TEST(PairStore, IsTheSameInAFileThatOthersMap) {
  for (const bool weighted : {false, true}) {
    PairStore pairs(weighted);
    for (int32_t i = 0; i < 40; ++i) pairs.add({i, std::vector(size_t(1 + i % 3), i), std::vector{2}, 0.5f});
    const FileDescriptor file = pairs.to_file();
    EXPECT_EQ(pairs.size(), 0);
    for (const PairStore& mapped : {PairStore(file), PairStore(file)}) {
      ASSERT_EQ(mapped.size(), 40);
      EXPECT_EQ(mapped.weighted(), weighted);
      EXPECT_EQ(mapped.source_tokens(), 13 * 6 + 1);
      EXPECT_EQ(mapped.target_tokens(), 40);
      EXPECT_EQ(mapped.mean_weight(), weighted ? 0.5 : 1);
      for (int32_t i = 0; i < 40; ++i) {
        EXPECT_EQ(mapped[i].line, i);
        EXPECT_EQ(mapped[i].weight, weighted ? 0.5f : 1);
        EXPECT_THAT(mapped[i].source, testing::ElementsAreArray(std::vector(size_t(1 + i % 3), i)));
        EXPECT_THAT(mapped[i].target, ElementsAre(2));
      }
    }
  }
}

// 300 pairs of up to 2 x 65,535 tokens do not fit into one segment of 16 M numbers, nor does every record end with one.
// They go to a file never, at once, within the first segment and within the second.
TEST(PairStore, HoldsManyLongSentencesInMemoryAndInAFile) {
  const auto sentence = [](int64_t i, int side) {
    return std::vector<int32_t>(1 + PhiloxSequence(i, side).below(PairStore::longest), int32_t(2 * i + side));
  };
  for (const int moved : {-1, 0, 100, 290}) {
    PairStore pairs(moved > 0);
    for (int32_t i = 0; i < 300; ++i) {
      if (i == moved) pairs.move_to_file(testing::TempDir());
      pairs.add({i, sentence(i, 0), sentence(i, 1), float(i)});
    }
    pairs.flush();
    EXPECT_EQ(pairs.in_file(), moved >= 0);
    ASSERT_GT(pairs.record_bytes(), 4 << 24);
    EXPECT_EQ(pairs.memory() > 4 << 24, moved < 0);
    for (const bool mapped : {false, true}) {
      if (mapped) pairs = PairStore(pairs.to_file());
      for (int64_t i = 0; i < 300; ++i) {
        const int64_t at = i * 77 % 300;
        const PairStore::Pair pair = pairs[at];
        ASSERT_EQ(pair.line, at);
        ASSERT_EQ(pair.weight, moved > 0 ? float(at) : 1);
        ASSERT_TRUE(std::ranges::equal(pair.source, sentence(at, 0))) << at;
        ASSERT_TRUE(std::ranges::equal(pair.target, sentence(at, 1))) << at;
      }
    }
  }
}

}  // namespace
}  // namespace dragoman
