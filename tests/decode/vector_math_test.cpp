#include "decode/vector_math.h"

#include <gtest/gtest.h>

#include "decode/candidates.h"

namespace dragoman {
namespace {

TEST(VectorMath, ExponentialsAreThoseOfTheLibrary) {
  for (float x = -87; x <= 0; x += 0.001f) EXPECT_NEAR(exp_of_negative(x) / std::exp(double(x)), 1, 3e-7) << x;
  EXPECT_EQ(exp_of_negative(0), 1);
  EXPECT_EQ(exp_of_negative(-0.f), 1);
  for (const float x : {-88.f, -100.f, impossible, -std::numeric_limits<float>::infinity()})
    EXPECT_EQ(exp_of_negative(x), 0) << x;
}

TEST(VectorMath, LogarithmsAreThoseOfTheLibrary) {
  EXPECT_EQ(log_of_one_plus(0), 0);
  for (float x = 1e-6f; x <= 1; x += 1e-4f) EXPECT_NEAR(log_of_one_plus(x) / std::log1p(double(x)), 1, 3e-7) << x;
}

TEST(VectorMath, AddsProbabilitiesWhoseExponentialsUnderflow) {
  EXPECT_NEAR(log_sum(std::log(0.25f), std::log(0.5f)), std::log(0.75), 1e-6);
  EXPECT_NEAR(log_sum(-200, -201), -200 + std::log1p(std::exp(-1.0)), 2e-5);
  for (const float x : {0.f, -1.f, -1000.f, impossible}) {
    EXPECT_EQ(log_sum(x, impossible), x);
    EXPECT_EQ(log_sum(impossible, x), x);
  }
}

}  // namespace
}  // namespace dragoman
