#include "base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/error.h"

namespace dragoman {
namespace {

// So many threads until the end of a scope.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) { set_thread_count(threads); }
  ~ThreadCount() { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};

// Counts visits to each of n items through parallel_blocks.
std::vector<int> visits(int64_t n, int64_t grain) {
  std::vector<int> seen(n);
  parallel_blocks(n, grain, [&](Range part, int) {
    for (int64_t i = part.begin; i < part.end; ++i) ++seen[i];
  });
  return seen;
}

TEST(ParallelBlocks, VisitsEveryItemOnce) {
  for (int threads : {1, 2, 3, 7}) {
    const ThreadCount count(threads);
    for (int64_t n : {0, 1, 5, 16, 17, 100}) EXPECT_EQ(visits(n, 4), std::vector<int>(n, 1)) << n << " on " << threads;
  }
}

TEST(ParallelBlocks, InsideAPartIsOneThreads) {
  const ThreadCount four(4);
  std::vector<std::vector<int>> seen(8);
  parallel_blocks(8, 1, [&](Range part, int) {
    for (int64_t i = part.begin; i < part.end; ++i) seen[i] = visits(100, 4);
  });
  EXPECT_EQ(seen, std::vector<std::vector<int>>(8, std::vector<int>(100, 1)));
}

TEST(ParallelBlocks, ServesSeveralCallersAtOnce) {
  const ThreadCount three(3);
  std::atomic<int> wrong = 0;
  const auto call = [&] {
    for (int round = 0; round < 2000; ++round) wrong += visits(50, 1) != std::vector<int>(50, 1);
  };
  std::thread other(call);
  call();
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ParallelBlocks, RunsManyRoundsWithMoreThreadsThanCores) {
  const ThreadCount many(17);
  for (int round = 0; round < 2000; ++round) ASSERT_EQ(visits(100, 1), std::vector<int>(100, 1));
}

TEST(ParallelBlocks, WakesWorkersThatSleep) {
  const ThreadCount three(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_EQ(visits(100, 1), std::vector<int>(100, 1));
  }
}

TEST(ParallelBlocks, PassesOnWhatAPartThrowsAndGoesOnAfterwards) {
  const ThreadCount three(3);
  for (int round = 0; round < 10; ++round)
    EXPECT_THROW(parallel_blocks(3, 1, [](Range, int part) { require(part != 2, "part two"); }), Error);
  EXPECT_EQ(visits(100, 1), std::vector<int>(100, 1));
}

TEST(ParallelBlocks, GivesEachThreadOnePartWhoeverComputesIt) {
  const ThreadCount three(3);
  std::vector<int> parts(3, 0);
  parallel_blocks(90, 1, [&](Range range, int part) { parts[part] += int(range.end - range.begin); });
  EXPECT_EQ(parts, std::vector<int>(3, 30));
}

TEST(AloneHere, LeavesAThreadOneForItself) {
  const ThreadCount count(3);
  {
    const AloneHere alone;
    EXPECT_EQ(thread_count(), 1);
    int parts = 0;
    parallel_blocks(100, 1, [&](Range all, int) { parts += all.end == 100 ? 1 : 2; });
    EXPECT_EQ(parts, 1);
    int elsewhere = 0;
    std::thread([&] { elsewhere = thread_count(); }).join();
    EXPECT_EQ(elsewhere, 3);
    { const AloneHere again; }
    EXPECT_EQ(thread_count(), 1);
  }
  EXPECT_EQ(thread_count(), 3);
}

TEST(ParallelItems, VisitsEveryItemOnce) {
  std::vector<int> seen(100);
  parallel_items(100, [&](int64_t i, int) { ++seen[i]; });
  EXPECT_EQ(seen, std::vector<int>(100, 1));
}

}  // namespace
}  // namespace dragoman
