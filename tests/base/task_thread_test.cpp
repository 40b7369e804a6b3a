#include "base/task_thread.h"

#include <gmock/gmock.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/threads.h"

namespace dragoman {
namespace {

TEST(TaskThread, RunsTasksInTheOrderInWhichTheyWereStarted) {
  std::vector<int> seen;
  std::vector<std::future<int>> results;
  TaskThread thread;
  for (int i = 0; i < 100; ++i)
    results.push_back(thread.start([&seen, i] {
      seen.push_back(i);
      return i * i;
    }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(results[size_t(i)].get(), i * i);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[size_t(i)], i);
}

TEST(TaskThread, PassesOnExceptionsAndStaysUsable) {
  TaskThread thread;
  auto fails = thread.start([]() -> int { throw std::runtime_error("no"); });
  EXPECT_THAT([&] { fails.get(); }, testing::ThrowsMessage<std::runtime_error>("no"));
  EXPECT_EQ(thread.start([] { return 3; }).get(), 3);
}

TEST(TaskThread, UsesThePoolAndTheLogOfTheCaller) {
  std::vector<std::string> said;
  const LogSink sink = [&](LogLevel, std::string_view line) { said.emplace_back(line); };
  const LogScope log(&sink);
  TaskThread thread;
  EXPECT_EQ(thread.start(thread_count).get(), 1);
  const Threads three(3);
  thread
      .start([] {
        EXPECT_EQ(thread_count(), 3);
        log_info("a task");
      })
      .get();
  EXPECT_EQ(said, std::vector<std::string>{"a task"});
}

TEST(TaskThread, DropsTasksThatHaveNotBegunWhenItEnds) {
  std::promise<void> begun;
  std::promise<void> may_end;
  std::future<int> first, second;
  std::jthread ends;
  {
    TaskThread thread;
    first = thread.start([&] {
      begun.set_value();
      may_end.get_future().wait();
      return 1;
    });
    second = thread.start([] { return 2; });
    begun.get_future().wait();
    // The destructor waits for the first task, which ends only when the destructor has begun.
    ends = std::jthread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      may_end.set_value();
    });
  }
  EXPECT_EQ(first.get(), 1);
  EXPECT_THROW(second.get(), std::future_error);
}

}  // namespace
}  // namespace dragoman
