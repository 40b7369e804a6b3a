#pragma once
#include <chrono>

namespace dragoman {

/// How long ago it was made.
class Clock {
 public:
  Clock() : start_(std::chrono::steady_clock::now()) {}
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  /// As if the time since `pause` began had not passed.
  void leave_out(const Clock& pause) { start_ += std::chrono::steady_clock::now() - pause.start_; }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace dragoman
