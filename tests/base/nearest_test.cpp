#include "base/nearest.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(Nearest, FindsTyposAndAbbreviations) {
  const std::vector<std::string> names = {"beam-size", "transformer-dropout", "quiet", "seed"};
  EXPECT_EQ(nearest("beam-szie", names), "beam-size");  // two letters swapped
  EXPECT_EQ(nearest("beamsize", names), "beam-size");
  EXPECT_EQ(nearest("dropout", names), "transformer-dropout");
  EXPECT_EQ(nearest("quite", names), "quiet");
  EXPECT_EQ(nearest("elephant", names), "");
  EXPECT_EQ(nearest("", names), "");
}

}  // namespace
}  // namespace dragoman
