#include "nn/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/registry.h"

namespace dragoman {
namespace {

struct Table {
  Table(int64_t dim, SinusoidOrder order) : Table(SinusoidDesign{dim, order}) {}
  explicit Table(const SinusoidDesign& design) : sinusoids(design, DType::f64) {}
  double at(int64_t position, int64_t column) {
    return sinusoids.table(arena, backend("reference"), position + 1).view<double>()(position, column);
  }
  Arena arena{Arena::Reserve::memory, int64_t{1} << 24};
  Sinusoids sinusoids;
};

// D = 4: frequencies 1 and 10000^(-2/4) = 1/100.
TEST(Sinusoids, InHalvesAreSinesThenCosines) {
  Table t(4, SinusoidOrder::halves);
  EXPECT_NEAR(t.at(3, 0), std::sin(3), 1e-12);
  EXPECT_NEAR(t.at(3, 1), std::sin(0.03), 1e-12);
  EXPECT_NEAR(t.at(3, 2), std::cos(3), 1e-12);
  EXPECT_NEAR(t.at(3, 3), std::cos(0.03), 1e-12);
}

// D = 4: angles are multiples of 1 and of 10000^-1, not 10000^-0.5 as in the paper.
TEST(Sinusoids, OfTensor2tensorReachTheLongestWavelengthInTheLastColumn) {
  Table t({.dim = 4, .tensor2tensor = true, .first = 2});
  EXPECT_NEAR(t.at(1, 0), std::sin(3), 1e-12);
  EXPECT_NEAR(t.at(1, 1), std::sin(3e-4), 1e-12);
  EXPECT_NEAR(t.at(1, 2), std::cos(3), 1e-12);
  EXPECT_NEAR(t.at(1, 3), std::cos(3e-4), 1e-12);
}

TEST(Sinusoids, InterleavedTakeTurns) {
  Table t(4, SinusoidOrder::interleaved);
  EXPECT_NEAR(t.at(3, 0), std::sin(3), 1e-12);
  EXPECT_NEAR(t.at(3, 1), std::cos(3), 1e-12);
  EXPECT_NEAR(t.at(3, 2), std::sin(0.03), 1e-12);
  EXPECT_NEAR(t.at(3, 3), std::cos(0.03), 1e-12);
}

TEST(Sinusoids, AreZerosAndOnesAtTheFirstPosition) {
  Table t(6, SinusoidOrder::halves);
  for (int64_t column = 0; column < 6; ++column) EXPECT_EQ(t.at(0, column), column < 3 ? 0 : 1);
}

// D = 3: frequencies 1 and 10000^(-2/3); the cosine of the second has no column.
TEST(Sinusoids, OfAnOddNumberOfColumnsLackTheLastCosine) {
  const double slow = 5 * std::pow(10000.0, -2.0 / 3);
  Table halves(3, SinusoidOrder::halves), interleaved(3, SinusoidOrder::interleaved);
  EXPECT_NEAR(halves.at(5, 0), std::sin(5), 1e-12);
  EXPECT_NEAR(halves.at(5, 1), std::sin(slow), 1e-12);
  EXPECT_NEAR(halves.at(5, 2), std::cos(5), 1e-12);
  EXPECT_NEAR(interleaved.at(5, 0), std::sin(5), 1e-12);
  EXPECT_NEAR(interleaved.at(5, 1), std::cos(5), 1e-12);
  EXPECT_NEAR(interleaved.at(5, 2), std::sin(slow), 1e-12);
}

TEST(Sinusoids, ReachAsFarAsTheLongestSentence) {
  Table t(4, SinusoidOrder::halves);
  EXPECT_NEAR(t.at(10, 0), std::sin(10), 1e-12);
  EXPECT_NEAR(t.at(5000, 0), std::sin(5000), 1e-9);
  EXPECT_NEAR(t.at(10, 1), std::sin(0.1), 1e-12);
}

// The last eight of 16 buckets in one direction begin at 8 · 2^(k/2).
TEST(DistanceBuckets, AreSingleDistancesAndThenRangesThatGrow) {
  const std::vector<int32_t> both = distance_buckets({32, 128, false});
  ASSERT_EQ(both.size(), 257U);
  const auto of_distance = [&](int distance) { return both[size_t(128 + distance)]; };
  for (int d = 0; d < 8; ++d) EXPECT_EQ(of_distance(-d), d);
  const std::pair<int, int> limits[] = {{8, 8},   {11, 8},  {12, 9},  {15, 9},  {16, 10}, {22, 10}, {23, 11},
                                        {31, 11}, {32, 12}, {45, 12}, {46, 13}, {64, 14}, {91, 15}, {128, 15}};
  for (const auto& [distance, bucket] : limits) {
    EXPECT_EQ(of_distance(-distance), bucket) << distance;
    EXPECT_EQ(of_distance(distance), 16 + bucket) << distance;
  }
}

TEST(DistanceBuckets, AreAllForEarlierKeysIfCausal) {
  const std::vector<int32_t> past = distance_buckets({8, 10, true});
  ASSERT_EQ(past.size(), 21U);
  const int expected[] = {0, 1, 2, 3, 4, 4, 5, 6, 7, 7, 7};
  for (int d = 0; d <= 10; ++d) EXPECT_EQ(past[size_t(10 - d)], expected[d]) << d;
}

}  // namespace
}  // namespace dragoman
