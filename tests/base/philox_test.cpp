#include "base/philox.h"

#include <gtest/gtest.h>

namespace dragoman {

// The known-answer vectors of the authors' Random123 library (kat_vectors, philox4x32 10).
TEST(Philox, GivesTheAuthorsKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxSequence, StaysBelowItsBoundAndMeetsEveryValue) {
  PhiloxSequence draw(7, 1);
  std::array<int, 5> seen{};
  for (int i = 0; i < 1000; ++i) ++seen.at(draw.below(5));
  for (int count : seen) EXPECT_GT(count, 100);
}

TEST(PhiloxSequence, NormalHasZeroMeanAndUnitVariance) {
  PhiloxSequence draw(3, 2);
  double sum = 0, squares = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double x = draw.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(squares / n, 1, 0.02);
}

}  // namespace dragoman
