#include "dragoman/engine.h"

#include <gmock/gmock.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "tests/base/living_threads.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// An engine that keeps what is logged.
struct LoggedEngine {
  explicit LoggedEngine(int threads)
      : engine({.threads = threads, .log = [this](LogLevel, std::string_view line) {
                  const std::lock_guard lock(mutex);
                  lines.emplace_back(line);
                }}) {}
  std::mutex mutex;
  std::vector<std::string> lines;
  Engine engine;
};

// Trains a toy model on the engine; returns the bytes of its state.
std::string train(ToyRun& run, Engine& engine) {
  const Engine::Scope scope(engine);
  Trainer trainer(run.setup, engine.backend());
  trainer.run();
  return run.state_bytes();
}

TEST(Engine, TrainsBesideAnotherOfOtherThreadsAndAnotherLog) {
  ToyRun run, other, alone;
  for (ToyRun* r : {&run, &other, &alone}) r->setup.training.after = {{4, Frequency::updates}};
  other.setup.training.seed = 5;
  LoggedEngine two(2), three(3);
  std::string of_two, of_three;
  std::thread beside([&] { of_three = train(other, three.engine); });
  of_two = train(run, two.engine);
  beside.join();
  EXPECT_EQ(two.engine.threads(), 2);
  EXPECT_EQ(three.engine.threads(), 3);
  EXPECT_THAT(two.lines, Contains(HasSubstr("Saved " + run.setup.training.model)));
  EXPECT_THAT(two.lines, Not(Contains(HasSubstr(other.setup.training.model))));
  EXPECT_THAT(three.lines, Contains(HasSubstr("Saved " + other.setup.training.model)));
  EXPECT_THAT(three.lines, Not(Contains(HasSubstr(run.setup.training.model))));
  EXPECT_NE(of_two, of_three);
  LoggedEngine again(2);
  EXPECT_TRUE(of_two == train(alone, again.engine)) << "the other engine changed the bits";
}

TEST(Engine, GivesItsThreadsBack) {
  const int before = living_threads();
  {
    Engine engine({.threads = 4});
    const Engine::Scope scope(engine);
    EXPECT_EQ(living_threads(), before + 3);
  }
  EXPECT_EQ(living_threads(), before);
}

TEST(Engine, BindsItsThreadsAndLogForAScope) {
  LoggedEngine three(3);
  EXPECT_EQ(three.engine.threads(), 3);
  EXPECT_EQ(thread_count(), 1);
  {
    const Engine::Scope scope(three.engine);
    EXPECT_EQ(thread_count(), 3);
    log_info("inside");
  }
  log_info("outside");
  EXPECT_EQ(three.lines, std::vector<std::string>{"inside"});
}

TEST(Engine, RefusesNumbersOfThreadsThatNoPoolCanHave) {
  for (int threads : {-1, 4096})
    EXPECT_THAT([&] { Engine({.threads = threads}); },
                testing::ThrowsMessage<Error>(HasSubstr("0 for OMP_NUM_THREADS or else one per core")));
}

TEST(Engine, SaysWhichDevicesThereAre) {
  const auto error_of = [](EngineOptions options) {
    try {
      (void)Engine(std::move(options)).backend();
    } catch (const Error& error) {
      return error;
    }
    return Error("no error");
  };
  for (const char* device : {"tpu", "0", "cuda:", "cuda:x"}) {
    const Error error = error_of({.device = device});
    EXPECT_EQ(error.what(), fmt::format("device is '{}', expected cpu or the name of a GPU, such as cuda:0", device));
    EXPECT_FALSE(error.hint().empty());
  }
  EXPECT_STREQ(error_of({.fast_math = true}).what(), "fast_math is for GPUs, and device is cpu");
  EXPECT_EQ(Engine().backend().name, "cpu");
}

}  // namespace
}  // namespace dragoman
