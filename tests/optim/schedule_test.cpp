#include <gtest/gtest.h>

#include <cmath>

#include "optim/adam.h"

namespace dragoman {
namespace {

OptimizerOptions options(Schedule schedule) {
  OptimizerOptions o{.learn_rate = 0.002, .warmup = 100, .schedule = schedule};
  if (schedule == Schedule::cosine || schedule == Schedule::linear) o.decay_updates = 500;
  return o;
}

TEST(LearningRate, RisesInALineToThePeak) {
  for (Schedule s : {Schedule::inverse_sqrt, Schedule::cosine, Schedule::linear, Schedule::constant}) {
    EXPECT_DOUBLE_EQ(learning_rate(options(s), 1, 512), 0.00002) << name_of(s);
    EXPECT_DOUBLE_EQ(learning_rate(options(s), 50, 512), 0.001) << name_of(s);
    EXPECT_DOUBLE_EQ(learning_rate(options(s), 100, 512), 0.002) << name_of(s);
  }
}

// A quarter of the way from 0.0004 to 0.002, half of it, all of it.
TEST(LearningRate, MayRiseFromAnotherRateThanZero) {
  for (Schedule s : {Schedule::inverse_sqrt, Schedule::cosine, Schedule::linear, Schedule::constant}) {
    OptimizerOptions o = options(s), plain = o;
    o.warmup_start = 0.0004;
    EXPECT_DOUBLE_EQ(learning_rate(o, 25, 512), 0.0008) << name_of(s);
    EXPECT_DOUBLE_EQ(learning_rate(o, 50, 512), 0.0012) << name_of(s);
    EXPECT_DOUBLE_EQ(learning_rate(o, 100, 512), 0.002) << name_of(s);
    EXPECT_EQ(learning_rate(o, 300, 512), learning_rate(plain, 300, 512)) << name_of(s);
  }
}

TEST(LearningRate, BeginsAtThePeakWithoutWarmUp) {
  for (Schedule s : {Schedule::inverse_sqrt, Schedule::cosine, Schedule::linear, Schedule::constant}) {
    OptimizerOptions o = options(s);
    o.warmup = 0;
    EXPECT_NEAR(learning_rate(o, 1, 512), 0.002, 0.002 / 499) << name_of(s);  // one of 500 steps down at most
  }
}

TEST(LearningRate, HalvesEachTimeUpdatesAreFourfold) {
  const OptimizerOptions o = options(Schedule::inverse_sqrt);
  EXPECT_DOUBLE_EQ(learning_rate(o, 400, 512), 0.001);
  EXPECT_DOUBLE_EQ(learning_rate(o, 1600, 512), 0.0005);
}

TEST(LearningRate, StaysAtThePeakUntilItsDecayBegins) {
  OptimizerOptions o = options(Schedule::inverse_sqrt);
  o.decay_from = 900;
  EXPECT_DOUBLE_EQ(learning_rate(o, 50, 512), 0.001);
  EXPECT_DOUBLE_EQ(learning_rate(o, 900, 512), 0.002);
  EXPECT_DOUBLE_EQ(learning_rate(o, 3600, 512), 0.001);
}

// Vaswani et al. 2017, eq. 3 with d = 512 and 4,000 updates of warm-up: at the peak 512^-½ · 4000^-½ = 6.98771e-4, at a
// tenth of the way a tenth of it, at four times the way a half.
TEST(LearningRate, OfNoamIsThePapersFormula) {
  const OptimizerOptions o{.learn_rate = 1, .warmup = 4000, .schedule = Schedule::noam};
  EXPECT_NEAR(learning_rate(o, 4000, 512), 6.98771e-4, 1e-9);
  EXPECT_NEAR(learning_rate(o, 400, 512), 6.98771e-5, 1e-10);
  EXPECT_NEAR(learning_rate(o, 16000, 512), 6.98771e-4 / 2, 1e-9);
  OptimizerOptions twice = o;
  twice.learn_rate = 2;
  EXPECT_DOUBLE_EQ(learning_rate(twice, 700, 512), 2 * learning_rate(o, 700, 512));
}

TEST(LearningRate, OfCosineAndLineIsHalfInTheMiddleAndZeroFromTheEnd) {
  for (Schedule s : {Schedule::cosine, Schedule::linear}) {
    EXPECT_NEAR(learning_rate(options(s), 300, 512), 0.001, 1e-12) << name_of(s);
    EXPECT_NEAR(learning_rate(options(s), 500, 512), 0, 1e-12) << name_of(s);
    EXPECT_NEAR(learning_rate(options(s), 9999, 512), 0, 1e-12) << name_of(s);
  }
  EXPECT_NEAR(learning_rate(options(Schedule::linear), 400, 512), 0.0005, 1e-12);
  EXPECT_NEAR(learning_rate(options(Schedule::cosine), 400, 512), 0.001 * (1 - std::sqrt(0.5)), 1e-12);
}

TEST(LearningRate, OfConstantStays) {
  EXPECT_DOUBLE_EQ(learning_rate(options(Schedule::constant), 1'000'000, 512), 0.002);
}

}  // namespace
}  // namespace dragoman
