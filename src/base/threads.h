#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace dragoman {

struct Range {
  int64_t begin, end;
};

/// Threads that kernels run on: the one that calls, and workers that wait for it. Safe to use from several threads at
/// once: one of them has the workers, the others compute alone meanwhile.
class ThreadPool {
 public:
  explicit ThreadPool(int threads = 0);  // 0: the cores that this process may use, or what OMP_NUM_THREADS says
  ~ThreadPool();                         // ends the workers
  ThreadPool(const ThreadPool&) = delete;
  int size() const;

 private:
  friend void run_parts(int parts, void (*f)(const void* context, int part), const void* context);
  class Workers;
  const std::unique_ptr<Workers> workers_;
};

/// Binds a pool to the calling thread as long as the scope lives: kernels that this thread calls run on the pool. null:
/// on this thread alone.
class PoolScope {
 public:
  explicit PoolScope(ThreadPool* pool);
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;

 private:
  ThreadPool* const before_;
};

/// Threads of the pool that is bound to this thread; 1 where none is.
int thread_count();

/// Calls f(context, part) once for each part of [0, parts), on as many threads of the bound pool as are free; returns
/// when all are done. The caller computes too and takes what no worker has begun: a worker that the system lets wait
/// delays no part but the one that it is in. Workers spin for some microseconds before they sleep, as the next kernel
/// is mostly that near, and no longer, as other programs may want the core. Inside a part no pool is bound; the
/// caller's log is. What a part throws is thrown here when all have ended.
void run_parts(int parts, void (*f)(const void* context, int part), const void* context);

/// Calls f(Range, part) with one contiguous part of [0, n) for each thread; parts start at multiples of `grain`. They
/// depend on n, grain and the number of threads only, so `part` may number partial sums.
template <class F>
void parallel_blocks(int64_t n, int64_t grain, const F& f) {
  if (n <= 0) return;
  const int64_t blocks = (n + grain - 1) / grain;
  const int parts = int(std::min<int64_t>(thread_count(), blocks));
  if (parts == 1) return f(Range{0, n}, 0);
  const auto run = [&](int p) {
    f(Range{blocks * p / parts * grain, std::min(n, blocks * (p + 1) / parts * grain)}, p);
  };
  run_parts(
      parts, [](const void* c, int p) { (*static_cast<decltype(&run)>(c))(p); }, &run);
}

/// Calls f(i, part) for every i in [0, n), handed out `batch` at a time: for items of unequal cost. What has the same
/// `part` never runs at the same time.
template <class F>
void parallel_items(int64_t n, const F& f) {
  constexpr int64_t batch = 4;
  const int parts = int(std::min<int64_t>(thread_count(), (n + batch - 1) / batch));
  std::atomic<int64_t> next = 0;
  const auto run = [&](int p) {
    for (int64_t from; (from = next.fetch_add(batch, std::memory_order_relaxed)) < n;)
      for (int64_t i = from; i < std::min(n, from + batch); ++i) f(i, p);
  };
  run_parts(
      parts, [](const void* c, int p) { (*static_cast<decltype(&run)>(c))(p); }, &run);
}

}  // namespace dragoman
