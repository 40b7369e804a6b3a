#include "base/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace dragoman {
namespace {

TEST(ParseNumber, TakesTheWholeText) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_number<double>("1e-3"), 1e-3);
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "1.0", "0x1", "one"})
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
}

TEST(ParseNumber, IsNoneBeyondTheRangeOfItsType) {
  EXPECT_EQ(parse_number<int8_t>("128"), std::nullopt);
  EXPECT_EQ(parse_number<uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<float>("1e39"), std::nullopt);
}

}  // namespace
}  // namespace dragoman
