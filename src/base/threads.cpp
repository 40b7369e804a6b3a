#include "base/threads.h"

#include <sched.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/kernel_chunks.h"
#include "base/log.h"
#include "base/new_thread.h"
#include "base/thread_signals.h"

namespace dragoman {
namespace {

constexpr int chunk_bits = 12, most_threads = (1 << chunk_bits) - 1;

int cores_to_use() {
  if (const char* threads_env = std::getenv("OMP_NUM_THREADS"))
    if (const int threads = std::atoi(threads_env); threads > 0) return std::min(threads, most_threads);
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof(mine), &mine) == 0) return std::max(1, CPU_COUNT(&mine));
  return std::max(1u, std::thread::hardware_concurrency());
}

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");  // `yield` does nothing on most ARM cores; this takes about as long as the pause of x86
#endif
}

constexpr int spins = 2000;  // 20 to 80 µs, depending on the CPU's pause

// Spins, then sleeps, until `value` is no longer `old`.
void wait_while(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

// The pool of the calling thread.
thread_local ThreadPool* pool_of_thread = nullptr;

// What KernelChunks says on the calling thread.
thread_local int fixed_chunks = 0;

}  // namespace

class ThreadPool::Workers {
 public:
  explicit Workers(int threads) : threads(threads) {}
  ~Workers() {
    ending_ = true;
    open_.fetch_add(1 << chunk_bits, std::memory_order_release);
    open_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  void run(int chunks, void (*f)(const void*, int), const void* context) {
    while (int(workers_.size()) < std::min(chunks, threads) - 1)
      new_thread([&] { workers_.emplace_back([this] { work(); }); });
    f_ = f;
    context_ = context;
    log_ = bound_log();
    unfinished_.store(uint32_t(chunks - 1), std::memory_order_relaxed);
    // A new round number, so that a worker that saw the last round end and is about to sleep notices the change.
    open_.store(((open_.load(std::memory_order_relaxed) >> chunk_bits) + 1) << chunk_bits | uint32_t(chunks - 1),
                std::memory_order_release);
    open_.notify_all();
    const PoolScope within_a_chunk(nullptr);
    compute(0);
    while (take_chunk()) continue;
    for (uint32_t left; (left = unfinished_.load(std::memory_order_acquire)) != 0;) wait_while(unfinished_, left);
    if (failed_.exchange(false)) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  const int threads;
  std::atomic_flag busy;

 private:
  void compute(int chunk) {
    const LogScope log(log_);
    try {
      f_(context_, chunk);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  // Computes a chunk that no thread has claimed. The job is read after the claim: no other job can replace it until the
  // claimed chunk is finished. A claim prepared in an older round is equally valid.
  bool take_chunk() {
    uint32_t open = open_.load(std::memory_order_acquire);
    const uint32_t chunk = open & ((1 << chunk_bits) - 1);
    if (chunk == 0) return false;
    if (!open_.compare_exchange_weak(open, open - 1, std::memory_order_acq_rel)) return true;
    compute(int(chunk));
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
    return true;
  }

  void work() {
    leave_signals_to_the_program();
    while (true) {
      const uint32_t seen = open_.load(std::memory_order_acquire);
      if (ending_) return;  // checked after reading `seen`: otherwise its wake-up could be lost
      if (!take_chunk()) wait_while(open_, seen);
    }
  }

  std::vector<std::thread> workers_;
  void (*f_)(const void*, int) = nullptr;
  const void* context_ = nullptr;
  const LogSink* log_ = nullptr;                // the caller's
  alignas(64) std::atomic<uint32_t> open_ = 0;  // round, and its number of unclaimed chunks
  alignas(64) std::atomic<uint32_t> unfinished_ = 0;
  std::atomic<bool> failed_ = false, ending_ = false;
  std::exception_ptr error_;  // the first of this round
};

ThreadPool::ThreadPool(int threads) : workers_(std::make_unique<Workers>(threads > 0 ? threads : cores_to_use())) {
  require(threads >= 0 && size() <= most_threads,
          "{} threads, expected 1 to {}, or 0 for OMP_NUM_THREADS or else one per core", threads, most_threads);
}
ThreadPool::~ThreadPool() = default;

int ThreadPool::size() const { return workers_->threads; }

PoolScope::PoolScope(ThreadPool* pool) : before_(std::exchange(pool_of_thread, pool)) {}
PoolScope::~PoolScope() { pool_of_thread = before_; }

ThreadPool* bound_pool() { return pool_of_thread; }

// No pool is bound in chunks on several threads, so kernels called there do not split their work further.
int thread_count() {
  if (!pool_of_thread) return 1;
  return fixed_chunks > 0 ? fixed_chunks : pool_of_thread->size();
}

KernelChunks::KernelChunks(int chunks) : before_(std::exchange(fixed_chunks, chunks)) {}
KernelChunks::~KernelChunks() { fixed_chunks = before_; }

void run_chunks(int chunks, void (*f)(const void*, int), const void* context) {
  ThreadPool::Workers* const w = pool_of_thread ? pool_of_thread->workers_.get() : nullptr;
  if (chunks <= 1 || !w || w->busy.test_and_set(std::memory_order_acquire)) {
    for (int chunk = 0; chunk < chunks; ++chunk) f(context, chunk);
    return;
  }
  const std::unique_ptr<std::atomic_flag, void (*)(std::atomic_flag*)> at_end(&w->busy,
                                                                              [](auto* flag) { flag->clear(); });
  w->run(chunks, f, context);
}

}  // namespace dragoman
