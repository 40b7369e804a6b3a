#include "base/grouped.h"

#include <gtest/gtest.h>

namespace dragoman {

TEST(Mebibytes, AreNeverLessThanIsNeeded) {
  EXPECT_EQ(mebibytes(0), 0);
  EXPECT_EQ(mebibytes(1 << 20), 1);
  EXPECT_EQ(mebibytes((1 << 20) + 1), 2);
}

}  // namespace dragoman
