#pragma once
#include <chrono>

namespace dragoman {

/// A stopwatch: the seconds since its construction.
class Clock {
 public:
  Clock() : start_(std::chrono::steady_clock::now()) {}
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  /// Excludes the time since `pause` was constructed.
  void leave_out(const Clock& pause) { start_ += std::chrono::steady_clock::now() - pause.start_; }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace dragoman
