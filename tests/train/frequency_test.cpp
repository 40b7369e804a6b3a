#include "train/frequency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

TEST(Frequency, IsANumberAndAUnit) {
  EXPECT_EQ(parse_frequency("8000u"), (Frequency{8000, Frequency::updates}));
  EXPECT_EQ(parse_frequency("8000"), (Frequency{8000, Frequency::updates}));
  EXPECT_EQ(parse_frequency("10e"), (Frequency{10, Frequency::epochs}));
  EXPECT_EQ(parse_frequency("500t"), (Frequency{500, Frequency::target_tokens}));
  EXPECT_EQ(parse_frequency("30m"), (Frequency{30, Frequency::minutes}));
}

TEST(Frequency, HasThousandsMillionsAndBillions) {
  EXPECT_EQ(parse_frequency("20Mt"), (Frequency{20'000'000, Frequency::target_tokens}));
  EXPECT_EQ(parse_frequency("1.5Mt"), (Frequency{1'500'000, Frequency::target_tokens}));
  EXPECT_EQ(parse_frequency("2Gt"), (Frequency{2'000'000'000, Frequency::target_tokens}));
  EXPECT_EQ(parse_frequency("8ku"), (Frequency{8000, Frequency::updates}));
}

TEST(Frequency, IsReadBackFromItsText) {
  for (const char* text : {"8000u", "10e", "20Mt", "3Gt", "30m", "0u", "1500000001t"})
    EXPECT_EQ(to_string(parse_frequency(text)), text);
}

TEST(Frequency, RefusesWhatIsNone) {
  for (const char* text : {"", "u", "10x", "10ee", "-5u", "1.5u", "10 u", "nan", "inf", "1e30u", "10M20u"})
    EXPECT_THROW(parse_frequency(text), Error) << text;
}

}  // namespace
}  // namespace dragoman
