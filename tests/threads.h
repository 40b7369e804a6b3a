#pragma once
#include "base/threads.h"

namespace dragoman {

/// So many threads for the kernels that this thread calls, while it lives.
class Threads {
 public:
  explicit Threads(int count) : pool_(count), scope_(&pool_) {}

 private:
  ThreadPool pool_;
  const PoolScope scope_;
};

}  // namespace dragoman
