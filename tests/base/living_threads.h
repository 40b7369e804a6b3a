#pragma once
#include <atomic>
#include <thread>

#include "base/threads.h"

namespace dragoman {

/// Threads that have run a chunk of a call of this function and have not ended. The caller and each thread of its pool
/// run one. (/proc/self/task would still list a thread for a moment after it was joined.)
inline int living_threads() {
  static std::atomic<int> living = 0;
  struct Mark {
    Mark() { ++living; }
    ~Mark() { --living; }
  };
  const int threads = thread_count();
  std::atomic<int> inside = 0;
  parallel_blocks(threads, 1, [&](Range, int) {
    static thread_local const Mark mark;
    // No thread leaves before all have come: each chunk is run by a thread of its own.
    for (++inside; inside < threads;) std::this_thread::yield();
  });
  return living;
}

}  // namespace dragoman
