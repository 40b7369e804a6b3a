#pragma once

namespace dragoman {

/// While this lives, `operator new` throws std::bad_alloc in all threads but the one that made it: once, or from then
/// on, after some allocations. Needs failing_memory.cpp in the test program.
class FailingMemory {
 public:
  enum class Fails { once, always };
  /// The n-th allocation is the first to fail.
  FailingMemory(int n, Fails fails);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  static bool failed();  // since the last one began
};

/// While this lives, `operator new` throws std::bad_alloc in this thread.
class NoMemory {
 public:
  NoMemory();
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
};

}  // namespace dragoman
