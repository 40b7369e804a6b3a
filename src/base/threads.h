#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace dragoman {

struct Range {
  int64_t begin, end;
};

/// OpenMP threads of this process: kernels share them, one kernel at a time.
int thread_count();
void set_thread_count(int threads);

/// Calls f(Range, thread) on every thread with one contiguous part of [0, n) each; parts start at multiples of
/// `grain`. Which part a thread gets never changes a result: f writes only what belongs to its range.
template <class F>
void parallel_blocks(int64_t n, int64_t grain, F f) {
  if (n <= 0) return;
  const int64_t blocks = (n + grain - 1) / grain;
  const int threads = int(std::min<int64_t>(thread_count(), blocks));
  if (threads <= 1) return f(Range{0, n}, 0);
#pragma omp parallel num_threads(threads)
  {
    // OpenMP may give fewer threads than asked: then each takes several parts.
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
      const int64_t from = blocks * t / threads * grain, to = std::min(n, blocks * (t + 1) / threads * grain);
      if (from < to) f(Range{from, to}, t);
    }
  }
}

/// Calls f(i, thread) for every i in [0, n), handed out one by one: for items of unequal cost.
template <class F>
void parallel_items(int64_t n, F f) {
  const int threads = int(std::min<int64_t>(thread_count(), n));
  if (threads <= 1) {
    for (int64_t i = 0; i < n; ++i) f(i, 0);
    return;
  }
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
  for (int64_t i = 0; i < n; ++i) f(i, omp_get_thread_num());
}

}  // namespace dragoman
