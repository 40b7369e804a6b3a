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

TEST(StopSignalsDeathTest, EndTheProcessTheSecondTime) {
  EXPECT_EXIT(
      {
        const StopSignals signals;
        std::raise(SIGTERM);
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace dragoman
