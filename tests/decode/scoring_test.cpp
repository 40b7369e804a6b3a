#include "decode/scoring.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(Score, DividesByThePowerOfTheLength) {
  EXPECT_DOUBLE_EQ(score({.normalize = 1}, -6, 3), -2);
  EXPECT_DOUBLE_EQ(score({.normalize = 0.5}, -6, 4), -3);
  EXPECT_DOUBLE_EQ(score({.normalize = 0}, -6, 3), -6);
}

TEST(Score, FollowsWuAndOthersOnRequest) {  // 2^0.6 = 1.515717
  EXPECT_NEAR(score({.normalize = 0, .length_penalty = 0.6}, -6, 7), -3.958524, 1e-6);
  EXPECT_DOUBLE_EQ(score({.normalize = 1, .length_penalty = 1}, -6, 7), -3);
}

TEST(Score, LosesTheWordPenaltyForEveryPiece) {
  EXPECT_DOUBLE_EQ(score({.normalize = 1, .word_penalty = 0.5}, -6, 3), -2.5);
  EXPECT_DOUBLE_EQ(score({.normalize = 0, .word_penalty = -1}, -6, 3), -3);
}

TEST(ScoreBound, IsNeverBelowWhatAHypothesisCanReach) {
  for (const double normalize : {0.0, 0.3, 1.0, 1.7})
    for (const double gnmt : {0.0, 0.6})
      for (const double word_penalty : {-3.0, -0.1, 0.0, 0.2, 2.0})
        for (const double log_prob : {0.0, -0.5, -7.0, -100.0}) {
          const SearchOptions options{.normalize = normalize, .length_penalty = gnmt, .word_penalty = word_penalty};
          for (int length = 1; length < 12; ++length)
            for (int later = length + 1; later <= 12; ++later)
              EXPECT_GE(score_bound(options, log_prob, length, 12), score(options, log_prob, later));
        }
}

TEST(LengthLimit, AddsToTheSourceOrMultipliesIt) {
  EXPECT_EQ(length_limit({.max_length_add = 50}, 7), 57);
  EXPECT_EQ(length_limit({.max_length_add = 50, .max_length_factor = 1.5}, 7), 11);
}

TEST(LengthLimit, LeavesRoomForOnePiece) {
  EXPECT_EQ(length_limit({.max_length_add = 0}, 0), 1);
  EXPECT_EQ(length_limit({.max_length_factor = 0.01}, 0), 1);
}

TEST(LeastLength, IsTheGreaterOfTwoAndAtMostTheLimit) {
  EXPECT_EQ(least_length({}, 7, 10), 0);
  EXPECT_EQ(least_length({.min_length = 3, .min_length_factor = 0.5}, 7, 10), 4);  // ⌈3.5⌉
  EXPECT_EQ(least_length({.min_length = 5, .min_length_factor = 0.5}, 7, 10), 5);
  EXPECT_EQ(least_length({.min_length = 100'000, .min_length_factor = 1000}, 100'000, 10), 10);
}

}  // namespace
}  // namespace dragoman
