#include "base/memory_size.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace dragoman {

TEST(MemorySize, HasAUnit) {
  EXPECT_EQ(parse_memory_size("0").bytes, 0);
  EXPECT_EQ(parse_memory_size("3K").bytes, 3072);
  EXPECT_EQ(parse_memory_size("512M").bytes, 536870912);
  EXPECT_EQ(parse_memory_size("4G").bytes, 4294967296);
  EXPECT_EQ(parse_memory_size("1.5G").bytes, 1610612736);
  EXPECT_EQ(parse_memory_size("0.0001K").bytes, 1) << "0 is no limit";
}

TEST(MemorySize, IsShownAsItIsRead) {
  for (const std::string text : {"0", "3K", "512M", "4G", "1536M"}) EXPECT_EQ(to_string(parse_memory_size(text)), text);
  EXPECT_EQ(to_string(parse_memory_size("0.5K")), "0.5K");
}

TEST(MemorySize, OfAnythingElseIsAnError) {
  for (const std::string text : {"", "512", "-1M", "M", "1X", "1MB", "nanM", "infG", "1e300G", "1 M", "0M"})
    EXPECT_THROW(parse_memory_size(text), Error) << text;
}

}  // namespace dragoman
