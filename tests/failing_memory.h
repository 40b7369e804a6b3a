#pragma once

namespace dragoman {

/// While this lives, `operator new` throws std::bad_alloc: once, or from then on, after some allocations; in the thread
/// that made it, or in all others. Needs failing_memory.cpp in the test program.
class FailingMemory {
 public:
  enum class Fails { once, always };
  enum class In { this_thread, other_threads };

  /// The n-th allocation is the first to fail.
  FailingMemory(int n, Fails fails, In threads);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;

  static bool failed();  // since the last one began
};

}  // namespace dragoman
