#include "nn/cache.h"

#include <gtest/gtest.h>

#include "backend/registry.h"

namespace dragoman {
namespace {

// New caches hold 256 rows, or as many as are asked for at once.
struct Cache : testing::Test {
  Arena arena{Arena::Reserve::memory, int64_t{1} << 24};
  Context cx{.backend = backend("reference"), .arena = arena};
  CacheRows rows{cx, 2, 3, DType::f64};
};

TEST_F(Cache, GivesAdjacentUnusedRows) {
  EXPECT_EQ(rows.take(100), 0);
  EXPECT_EQ(rows.take(50), 100);
  EXPECT_EQ(rows.take(106), 150);
  EXPECT_EQ(rows.layer(0).shape(), (Shape{256, 3}));
  EXPECT_EQ(rows.layer(1).shape(), (Shape{256, 3}));
}

TEST_F(Cache, JoinsWhatComesBackWithItsNeighbours) {
  for (int64_t first : {0, 64, 128, 192}) EXPECT_EQ(rows.take(64), first);
  rows.give_back(0, 64);
  rows.give_back(128, 64);
  rows.give_back(64, 64);  // closes the gap on both sides
  EXPECT_EQ(rows.take(192), 0);
  rows.give_back(192, 64);
  EXPECT_EQ(rows.take(64), 192);
  EXPECT_EQ(rows.layer(0).rows(), 256);
}

TEST_F(Cache, TakesTheFirstGapThatIsWideEnough) {
  for (int64_t first : {0, 64, 128, 192}) EXPECT_EQ(rows.take(64), first);
  rows.give_back(0, 32);
  rows.give_back(128, 64);
  EXPECT_EQ(rows.take(40), 128);
  EXPECT_EQ(rows.take(20), 0);
}

TEST_F(Cache, KeepsItsContentsWhenItGrows) {
  const int64_t held = rows.take(256);
  for (int l : {0, 1})
    for (int64_t i = 0; i < 256 * 3; ++i) rows.layer(l).as<double>()[i] = double(1000 * l + i);
  EXPECT_EQ(rows.take(10), 256);
  EXPECT_EQ(rows.layer(0).rows(), 512);
  for (int l : {0, 1})
    for (int64_t i = 0; i < 256 * 3; ++i) ASSERT_EQ(rows.layer(l).as<double>()[held * 3 + i], double(1000 * l + i));
}

// Each layer takes 256 × 3 × 8 = 6,144 bytes, then twice as many: there is room for the first, not for the second.
TEST_F(Cache, GrowsLaterIfMemoryRunsOutHalfWay) {
  Arena scarce(Arena::Reserve::memory, 6 * 6144);
  Context of_scarce{.backend = backend("reference"), .arena = scarce};
  CacheRows cache{of_scarce, 2, 3, DType::f64};
  cache.take(256);
  Tensor other = scarce.allocate({2 * 256, 3}, DType::f64);
  for (int l : {0, 1})
    for (int64_t i = 0; i < 256 * 3; ++i) cache.layer(l).as<double>()[i] = double(1000 * l + i);
  EXPECT_THROW(cache.take(10), OutOfMemory);
  EXPECT_NE(cache.layer(0).rows(), cache.layer(1).rows());
  other = {};
  EXPECT_EQ(cache.take(10), 256);
  for (int l : {0, 1})
    for (int64_t i = 0; i < 256 * 3; ++i) ASSERT_EQ(cache.layer(l).as<double>()[i], double(1000 * l + i));
}

TEST_F(Cache, GrowsForMoreThanItEverHeld) {
  EXPECT_EQ(rows.take(2000), 0);
  EXPECT_EQ(rows.layer(0).rows(), 2000);
  EXPECT_EQ(rows.take(1), 2000);
  EXPECT_EQ(rows.layer(0).rows(), 3000);  // by half
}

}  // namespace
}  // namespace dragoman
