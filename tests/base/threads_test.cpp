#include "base/threads.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "tests/base/living_threads.h"
#include "tests/no_threads.h"
#include "tests/threads.h"

namespace dragoman {
namespace {

// Counts visits to each of n items through parallel_blocks.
std::vector<int> visits(int64_t n, int64_t grain) {
  std::vector<int> seen(n);
  parallel_blocks(n, grain, [&](Range chunk, int) {
    for (int64_t i = chunk.begin; i < chunk.end; ++i) ++seen[i];
  });
  return seen;
}

TEST(ParallelBlocks, VisitsEveryItemOnce) {
  for (int threads : {1, 2, 3, 7}) {
    const Threads count(threads);
    for (int64_t n : {0, 1, 5, 16, 17, 100}) EXPECT_EQ(visits(n, 4), std::vector<int>(n, 1)) << n << " on " << threads;
  }
}

TEST(ParallelBlocks, RunsOnOneThreadInsideAChunk) {
  const Threads four(4);
  std::vector<std::vector<int>> seen(8);
  parallel_blocks(8, 1, [&](Range chunk, int) {
    for (int64_t i = chunk.begin; i < chunk.end; ++i) seen[i] = visits(100, 4);
  });
  EXPECT_EQ(seen, std::vector<std::vector<int>>(8, std::vector<int>(100, 1)));
}

TEST(ParallelBlocks, ServesSeveralCallersAtOnce) {
  ThreadPool three(3);
  std::atomic<int> wrong = 0;
  const auto call = [&] {
    const PoolScope scope(&three);
    for (int round = 0; round < 2000; ++round) wrong += visits(50, 1) != std::vector<int>(50, 1);
  };
  std::thread other(call);
  call();
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ParallelItems, HaveWorkForEachThreadIfThereAreEnough) {
  for (const int threads : {1, 2, 4, 16}) {
    const Threads count(threads);
    for (const int64_t n : {0, 1, 3, 4, 8, 16, 100}) {
      std::atomic<int> chunks = 0;
      std::vector<std::atomic<int>> seen(n), started(threads);
      parallel_items(n, [&](int64_t i, int chunk) {
        ++seen[i];
        if (started[chunk]++ > 0) return;
        ++chunks;  // this thread waits for the others that have work
        for (const int all = int(std::min<int64_t>(threads, n)); chunks < all;) std::this_thread::yield();
      });
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(seen[i], 1) << i << " of " << n << " on " << threads;
    }
  }
}

TEST(ParallelBlocks, RunsManyRoundsWithMoreThreadsThanCores) {
  const Threads many(17);
  for (int round = 0; round < 2000; ++round) ASSERT_EQ(visits(100, 1), std::vector<int>(100, 1));
}

TEST(ParallelBlocks, WakesWorkersThatSleep) {
  const Threads three(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_EQ(visits(100, 1), std::vector<int>(100, 1));
  }
}

TEST(ParallelBlocks, RethrowsAnErrorOfAChunkAndStaysUsable) {
  const Threads three(3);
  for (int round = 0; round < 10; ++round)
    EXPECT_THROW(parallel_blocks(3, 1, [](Range, int chunk) { require(chunk != 2, "chunk two"); }), Error);
  EXPECT_EQ(visits(100, 1), std::vector<int>(100, 1));
}

TEST(ParallelBlocks, GivesEachThreadOneChunkWhoeverComputesIt) {
  const Threads three(3);
  std::vector<int> chunks(3, 0);
  parallel_blocks(90, 1, [&](Range range, int chunk) { chunks[chunk] += int(range.end - range.begin); });
  EXPECT_EQ(chunks, std::vector<int>(3, 30));
}

TEST(ThreadPool, IsBoundToAThreadForAScope) {
  EXPECT_EQ(thread_count(), 1);
  ThreadPool three(3), two(2);
  const PoolScope outer(&three);
  EXPECT_EQ(thread_count(), 3);
  {
    const PoolScope inner(&two);
    EXPECT_EQ(thread_count(), 2);
    const PoolScope alone(nullptr);
    EXPECT_EQ(thread_count(), 1);
  }
  EXPECT_EQ(thread_count(), 3);
  int elsewhere = 0;
  std::thread([&] { elsewhere = thread_count(); }).join();
  EXPECT_EQ(elsewhere, 1);
}

TEST(ThreadPool, OfOneThreadDoesNotWaitForThatOfAnother) {
  std::atomic<int> inside = 0;
  // Two chunks in each of two pools: all four must run at once, or this never ends.
  const auto meet = [&] {
    const Threads two(2);
    parallel_blocks(2, 1, [&](Range, int) {
      ++inside;
      while (inside < 4) std::this_thread::yield();
    });
  };
  std::thread other(meet);
  meet();
  other.join();
  EXPECT_EQ(inside, 4);
}

TEST(ThreadPool, GivesItsThreadsBack) {
  const int before = living_threads();
  {
    const Threads five(5);
    EXPECT_EQ(living_threads(), before + 4);
  }
  EXPECT_EQ(living_threads(), before);
}

TEST(ThreadPool, SaysThatTheSystemStartsNoMoreThreadsAndStaysUsable) {
  const Threads three(3);
  {
    const NoThreads none;
    EXPECT_THAT([] { visits(100, 1); }, testing::ThrowsMessage<Error>(
                                            "the system cannot start more threads: Resource temporarily unavailable"));
  }
  EXPECT_EQ(visits(100, 1), std::vector<int>(100, 1));
}

TEST(ThreadPool, ChunksLogWhereTheirCallerDoes) {
  std::mutex mutex;
  std::vector<std::string> said;
  const LogSink sink = [&](LogLevel, std::string_view line) {
    const std::lock_guard lock(mutex);
    said.emplace_back(line);
  };
  const LogScope log(&sink);
  const Threads three(3);
  parallel_blocks(3, 1, [](Range, int) { log_info("a chunk"); });
  EXPECT_EQ(said, std::vector<std::string>(3, "a chunk"));
}

TEST(ParallelItems, VisitsEveryItemOnce) {
  std::vector<int> seen(100);
  parallel_items(100, [&](int64_t i, int) { ++seen[i]; });
  EXPECT_EQ(seen, std::vector<int>(100, 1));
}

}  // namespace
}  // namespace dragoman
