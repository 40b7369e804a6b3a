#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace dragoman {

struct Range {
  int64_t begin, end;
};

/// Threads that run kernels: the caller and the workers waiting for it. Several threads may use it at once: one of them
/// gets the workers, and the others compute alone meanwhile.
class ThreadPool {
 public:
  explicit ThreadPool(int threads = 0);  // 0: the cores that this process may use, or what OMP_NUM_THREADS says
  ~ThreadPool();                         // ends the workers
  ThreadPool(const ThreadPool&) = delete;
  int size() const;

 private:
  friend void run_chunks(int chunks, void (*f)(const void* context, int chunk), const void* context);
  class Workers;
  const std::unique_ptr<Workers> workers_;
};

/// Binds a pool to the calling thread while the scope lives: kernels called by this thread run on the pool. null: they
/// run on this thread alone.
class PoolScope {
 public:
  explicit PoolScope(ThreadPool* pool);
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;

 private:
  ThreadPool* const before_;
};

ThreadPool* bound_pool();  // null: none

/// Wraps `f`, to be called by another thread, so that it uses the calling thread's pool.
template <class F>
auto with_pool(F f) {
  return [f = std::move(f), pool = bound_pool()]<class... A>(A&&... arguments) mutable {
    const PoolScope scope(pool);
    return f(std::forward<A>(arguments)...);
  };
}

/// Number of threads of the pool bound to this thread; 1 if none is bound.
int thread_count();

/// Calls f(context, chunk) once for each `chunk` in [0, chunks), on as many threads of the bound pool as are free;
/// returns when all are done. The caller computes too and takes every chunk that no worker has started, so a
/// descheduled worker delays only its own chunk. Workers spin for some microseconds before sleeping, because the next
/// kernel usually follows that soon; they do not spin longer, because other programs may need the core. In a chunk the
/// caller's log is bound, but no pool. Exceptions of a chunk are rethrown here once all chunks have ended. If there is
/// one chunk or no pool, or another thread has the workers, the caller runs all chunks itself with its pool still
/// bound, and an exception ends the call at once.
void run_chunks(int chunks, void (*f)(const void* context, int chunk), const void* context);

/// Calls f(Range, chunk) with one contiguous chunk of [0, n) for each thread; chunks start at multiples of `grain`.
/// They depend only on n, grain and the number of threads, so `chunk` may index partial sums.
template <class F>
void parallel_blocks(int64_t n, int64_t grain, const F& f) {
  if (n <= 0) return;
  const int64_t blocks = (n + grain - 1) / grain;
  const int chunks = int(std::min<int64_t>(thread_count(), blocks));
  if (chunks == 1) return f(Range{0, n}, 0);
  const auto run = [&](int chunk) {
    f(Range{blocks * chunk / chunks * grain, std::min(n, blocks * (chunk + 1) / chunks * grain)}, chunk);
  };
  run_chunks(
      chunks, [](const void* c, int chunk) { (*static_cast<decltype(&run)>(c))(chunk); }, &run);
}

/// Calls f(i, chunk) for every i in [0, n), handed out a few at a time, fewer if there would be none for some threads:
/// for items of unequal cost. Calls with the same `chunk` never run concurrently.
template <class F>
void parallel_items(int64_t n, const F& f) {
  const int64_t batch = std::clamp<int64_t>(n / (4 * thread_count()), 1, 4);
  const int chunks = int(std::min<int64_t>(thread_count(), (n + batch - 1) / batch));
  std::atomic<int64_t> next = 0;
  const auto run = [&](int chunk) {
    for (int64_t from; (from = next.fetch_add(batch, std::memory_order_relaxed)) < n;)
      for (int64_t i = from; i < std::min(n, from + batch); ++i) f(i, chunk);
  };
  run_chunks(
      chunks, [](const void* c, int chunk) { (*static_cast<decltype(&run)>(c))(chunk); }, &run);
}

}  // namespace dragoman
