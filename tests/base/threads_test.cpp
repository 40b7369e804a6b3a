#include "base/threads.h"

#include <gtest/gtest.h>

#include <vector>

namespace dragoman {
namespace {

// Counts visits to each of n items through parallel_blocks.
std::vector<int> visits(int64_t n, int64_t grain) {
  std::vector<int> seen(n);
  parallel_blocks(n, grain, [&](Range part, int) {
    for (int64_t i = part.begin; i < part.end; ++i) ++seen[i];
  });
  return seen;
}

TEST(ParallelBlocks, VisitsEveryItemOnce) {
  const int before = thread_count();
  for (int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    for (int64_t n : {0, 1, 5, 16, 17, 100}) EXPECT_EQ(visits(n, 4), std::vector<int>(n, 1)) << n << " on " << threads;
  }
  set_thread_count(before);
}

TEST(ParallelBlocks, VisitsEveryItemOnceWhenOpenMpGivesFewerThreadsThanAsked) {
  const int before = thread_count();
  std::vector<int> seen;
  set_thread_count(4);
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    {
      omp_set_num_threads(4);
      seen = visits(100, 4);  // a region inside a region has one thread
    }
  }
  set_thread_count(before);
  EXPECT_EQ(seen, std::vector<int>(100, 1));
}

TEST(ParallelItems, VisitsEveryItemOnce) {
  std::vector<int> seen(100);
  parallel_items(100, [&](int64_t i, int) { ++seen[i]; });
  EXPECT_EQ(seen, std::vector<int>(100, 1));
}

}  // namespace
}  // namespace dragoman
