#include "train/loss_scale.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(LossScale, DoublesAfterLongWithoutOverflow) {
  LossScale scale{8};
  for (int64_t i = 0; i + 1 < LossScale::patience; ++i) scale.went_well();
  EXPECT_EQ(scale.value, 8);
  scale.went_well();
  EXPECT_EQ(scale.value, 16);
  EXPECT_EQ(scale.since, 0);
}

TEST(LossScale, HalvesAtEachOverflowAndBeginsToWaitAnew) {
  LossScale scale{8, LossScale::patience - 1};
  EXPECT_TRUE(scale.lower());
  EXPECT_EQ(scale.value, 4);
  scale.went_well();
  EXPECT_EQ(scale.value, 4);
}

TEST(LossScale, EndsWhereNoLowerOneWouldHelp) {
  LossScale scale{LossScale::least * 2};
  EXPECT_TRUE(scale.lower());
  EXPECT_FALSE(scale.lower());
  EXPECT_EQ(scale.value, LossScale::least);
}

}  // namespace
}  // namespace dragoman
