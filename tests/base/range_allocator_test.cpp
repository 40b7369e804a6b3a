#include "base/range_allocator.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "tests/failing_memory.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(RangeAllocator, TakesTheFirstHoleThatIsLargeEnough) {
  RangeAllocator ranges;
  for (const int64_t expected : {0, 10, 20, 30}) EXPECT_EQ(ranges.take(10), expected);
  ranges.give_back(0, 4);
  ranges.give_back(10, 10);
  EXPECT_EQ(ranges.take(5), 10);
  EXPECT_EQ(ranges.take(4), 0);
  EXPECT_EQ(ranges.take(6), 40);
  EXPECT_THAT(ranges.holes(), ElementsAre(Pair(15, 5)));
  EXPECT_EQ(ranges.end(), 46);
}

TEST(RangeAllocator, JoinsAHoleWithBothNeighboursAndWithTheEnd) {
  RangeAllocator ranges;
  for (int i = 0; i < 5; ++i) ranges.take(10);
  ranges.give_back(10, 10);
  ranges.give_back(30, 10);
  ranges.give_back(20, 10);
  EXPECT_THAT(ranges.holes(), ElementsAre(Pair(10, 30)));
  ranges.give_back(40, 10);
  EXPECT_THAT(ranges.holes(), IsEmpty());
  EXPECT_EQ(ranges.end(), 10);
  ranges.give_back(0, 10);
  EXPECT_EQ(ranges.end(), 0);
}

TEST(RangeAllocator, NeverGivesANumberTwice) {
  RangeAllocator ranges;
  std::mt19937 random(1);
  std::vector<std::pair<int64_t, int64_t>> taken;
  std::set<int64_t> used;
  for (int i = 0; i < 2000; ++i) {
    if (!taken.empty() && random() % 2 == 0) {
      std::swap(taken[random() % taken.size()], taken.back());
      const auto [first, count] = taken.back();
      taken.pop_back();
      ranges.give_back(first, count);
      for (int64_t n = first; n < first + count; ++n) used.erase(n);
    } else {
      const int64_t count = 1 + random() % 9, first = ranges.take(count);
      taken.emplace_back(first, count);
      for (int64_t n = first; n < first + count; ++n) ASSERT_TRUE(used.insert(n).second) << n;
    }
    ASSERT_EQ(ranges.end(), used.empty() ? 0 : *used.rbegin() + 1);
  }
}

// Destructors give back, which must not fail.
TEST(RangeAllocator, NeedsNoMemoryToGiveBack) {
  RangeAllocator ranges;
  for (int i = 0; i < 20; ++i) ranges.take(10);
  const FailingMemory none(1, FailingMemory::Fails::always, FailingMemory::In::this_thread);
  for (int64_t first = 0; first < 200; first += 20) ranges.give_back(first, 10);
  for (const int64_t first : {0, 20, 40}) EXPECT_EQ(ranges.take(10), first);
  for (const int64_t first : {20, 0, 40}) ranges.give_back(first, 10);
  for (int64_t first = 10; first < 200; first += 20) ranges.give_back(first, 10);
}

TEST(RangeAllocator, TakesNothingWithoutMemoryToNoteIt) {
  RangeAllocator ranges;
  ranges.take(10);
  {
    const FailingMemory none(1, FailingMemory::Fails::always, FailingMemory::In::this_thread);
    EXPECT_THROW(ranges.take(10), std::bad_alloc);
  }
  EXPECT_EQ(ranges.end(), 10);
  EXPECT_EQ(ranges.take(10), 10);
}

}  // namespace
}  // namespace dragoman
