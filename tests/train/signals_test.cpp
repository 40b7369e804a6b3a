#include "train/signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace dragoman {
namespace {

TEST(StopSignals, AskOnceAndAreForgottenByTheNextRun) {
  {
    const StopSignals signals;
    EXPECT_FALSE(StopSignals::asked());
    std::raise(SIGTERM);
    EXPECT_TRUE(StopSignals::asked());
  }
  const StopSignals next;
  EXPECT_FALSE(StopSignals::asked());
}

TEST(StopSignals, LeaveAloneWhatTheProcessWasStartedToIgnore) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  {
    const StopSignals signals;
    std::raise(SIGINT);
    EXPECT_FALSE(StopSignals::asked());
  }
  EXPECT_EQ(std::signal(SIGINT, before), SIG_IGN);
}

TEST(StopSignalsDeathTest, EndTheProcessTheSecondTimeWhicheverTheyAre) {
  for (int first : {SIGTERM, SIGINT})
    EXPECT_EXIT(
        {
          const StopSignals signals;
          std::raise(first);
          std::raise(SIGTERM);
        },
        testing::KilledBySignal(SIGTERM), "");
}

TEST(RequestSignals, AreTakenOnce) {
  const RequestSignals signals;
  EXPECT_FALSE(RequestSignals::take_save());
  std::raise(SIGUSR1);
  EXPECT_FALSE(RequestSignals::take_validation());
  EXPECT_TRUE(RequestSignals::take_save());
  EXPECT_FALSE(RequestSignals::take_save());
  std::raise(SIGUSR2);
  EXPECT_TRUE(RequestSignals::take_validation());
  EXPECT_FALSE(RequestSignals::take_validation());
}

}  // namespace
}  // namespace dragoman
