#include "base/utc_time.h"

#include <gtest/gtest.h>

namespace dragoman {

// date -u -d @1000000000 +%FT%TZ
TEST(UtcTime, IsWrittenAsInIso8601) {
  EXPECT_EQ(utc_time(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_time(1'000'000'000), "2001-09-09T01:46:40Z");
}

}  // namespace dragoman
