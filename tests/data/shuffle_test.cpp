#include "data/shuffle.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>

namespace dragoman {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// The order of the pairs 0 … n - 1 in an epoch.
std::vector<int> permutation(int n, uint64_t seed, int64_t epoch) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  PhiloxSequence numbers = shuffle_numbers(seed, epoch, Shuffled::pairs);
  shuffle(order, numbers);
  return order;
}

// From a Philox and a Fisher-Yates written in Python; below(n) takes two 32-bit words, the first one high.
TEST(Shuffle, GivesTheOrderThatAnotherImplementationGives) {
  EXPECT_THAT(permutation(10, 1, 0), ElementsAre(3, 7, 0, 4, 5, 8, 1, 9, 2, 6));
  EXPECT_THAT(permutation(10, 1, 1), ElementsAre(0, 7, 5, 4, 3, 9, 1, 2, 6, 8));
  EXPECT_THAT(permutation(10, 2, 0), ElementsAre(9, 2, 7, 0, 8, 3, 1, 5, 6, 4));
}

TEST(Shuffle, OfNothingAndOfOneIsTrivial) {
  EXPECT_TRUE(permutation(0, 1, 0).empty());
  EXPECT_THAT(permutation(1, 1, 0), ElementsAre(0));
}

TEST(Shuffle, KeepsEveryItem) {
  std::vector<std::string> words = {"a", "b", "c", "c"};
  PhiloxSequence numbers = shuffle_numbers(5, 3, Shuffled::batches);
  shuffle(words, numbers);
  EXPECT_THAT(words, UnorderedElementsAre("a", "b", "c", "c"));
}

// 6 orders in 6,000 epochs: a fair share is 1,000 with a standard deviation of 29.
TEST(Shuffle, GivesEveryOrderItsShareOfTheEpochs) {
  std::map<std::vector<int>, int> seen;
  for (int epoch = 0; epoch < 6000; ++epoch) ++seen[permutation(3, 1, epoch)];
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

// 10,000 draws: the mean of uniform numbers has a standard deviation of 0.0029.
TEST(Chance, IsUniformAndDiffersByPairEpochAndSeed) {
  double sum = 0;
  for (int pair = 0; pair < 10000; ++pair) {
    const double drawn = chance(1, 0, pair);
    EXPECT_GE(drawn, 0);
    EXPECT_LT(drawn, 1);
    sum += drawn;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.015);
  EXPECT_EQ(chance(1, 2, 3), chance(1, 2, 3));
  EXPECT_NE(chance(1, 2, 3), chance(1, 2, 4));
  EXPECT_NE(chance(1, 2, 3), chance(1, 3, 3));
  EXPECT_NE(chance(1, 2, 3), chance(2, 2, 3));
}

TEST(Shuffle, OfBatchesAndOfPairsDrawsDifferentNumbers) {
  PhiloxSequence pairs = shuffle_numbers(1, 0, Shuffled::pairs), batches = shuffle_numbers(1, 0, Shuffled::batches);
  EXPECT_NE(pairs.next(), batches.next());
}

}  // namespace dragoman
