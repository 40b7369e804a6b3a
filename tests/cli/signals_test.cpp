#include "cli/signals.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "backend/backend.h"
#include "backend/registry.h"
#include "tensor/arena.h"

namespace dragoman {
namespace {

TEST(StopSignals, AskOnceAndAreForgottenByTheNextRun) {
  RunControl run, next;
  {
    const StopSignals signals(run);
    std::raise(SIGTERM);
    EXPECT_TRUE(run.stop);
  }
  const StopSignals signals(next);
  EXPECT_FALSE(next.stop);
  std::raise(SIGTERM);  // the first one of this run
  EXPECT_TRUE(next.stop);
}

TEST(StopSignals, LeaveAloneWhatTheProcessWasStartedToIgnore) {
  for (const int signal : {SIGINT, SIGHUP}) {
    const auto before = std::signal(signal, SIG_IGN);
    {
      RunControl run;
      const StopSignals signals(run);
      std::raise(signal);
      EXPECT_FALSE(run.stop);
    }
    EXPECT_EQ(std::signal(signal, before), SIG_IGN);
  }
}

TEST(StopSignalsDeathTest, EndTheProcessTheSecondTimeWhicheverTheyAre) {
  for (int first : {SIGTERM, SIGINT})
    EXPECT_EXIT(
        {
          RunControl run;
          const StopSignals signals(run);
          std::raise(first);
          std::raise(SIGTERM);
        },
        testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignals, TakeATerminalThatClosesForOneThatAsks) {
  RunControl run;
  const StopSignals signals(run);
  std::raise(SIGHUP);
  EXPECT_TRUE(run.stop);
  std::raise(SIGHUP);  // from the shell, and again from the system after the shell has exited
  std::raise(SIGTERM);
  EXPECT_TRUE(run.stop);
}

TEST(RequestSignals, AskForASaveOrAValidation) {
  RunControl run;
  const RequestSignals signals(run);
  std::raise(SIGUSR1);
  EXPECT_TRUE(run.save);
  EXPECT_FALSE(run.validate);
  std::raise(SIGUSR2);
  EXPECT_TRUE(run.validate);
}

// oneDNN 2.6 keeps data where a handler's frame would be: this once corrupted the heap.
TEST(RequestSignals, LeaveAMatrixProductAlone) {
  RunControl run;
  const RequestSignals signals(run);
  Arena arena;
  const auto filled = [&](int64_t rows, int64_t cols) {
    const Tensor t = arena.allocate({rows, cols}, DType::f32);
    for (int64_t i = 0; i < rows * cols; ++i) t.as<float>()[i] = float(i % 7) - 3;
    return t;
  };
  const Tensor x = filled(48, 256), w = filled(32, 256), b = filled(1, 32).reshaped({32}), expected = filled(48, 32);
  backend("cpu").linear(expected, x, w, b, Activation::none);
  const std::jthread sender([](std::stop_token stop) {
    while (!stop.stop_requested()) kill(getpid(), SIGUSR1);
  });
  for (int i = 0; i < 10'000; ++i) {
    const Tensor y = filled(48, 32);
    backend("cpu").linear(y, x, w, b, Activation::none);
    ASSERT_EQ(std::memcmp(y.data(), expected.data(), size_t(y.bytes())), 0);
  }
  EXPECT_TRUE(run.save);
}

}  // namespace
}  // namespace dragoman
