#include "cli/line_progress.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(ProgressLine, SaysWhatIsDoneAndHowFast) {
  EXPECT_EQ(progress_line(1234, 1300, -1, 10), "1,234 lines  123.4 lines/s");
}

// 100 of 200 lines read are done, and half of the input is read: a quarter in 10 s, so 30 s remain.
TEST(ProgressLine, TakesLinesThatAreReadAndNotYetDoneForComing) {
  EXPECT_EQ(progress_line(100, 200, 0.5, 10), "100 lines  10.0 lines/s  25%  ETA 0:00:30");
}

TEST(ProgressLine, PromisesNothingBeforeTheFirstLine) {
  EXPECT_EQ(progress_line(0, 5, 0.5, 10), "0 lines  0.0 lines/s");
}

}  // namespace
}  // namespace dragoman
