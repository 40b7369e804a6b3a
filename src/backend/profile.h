#pragma once
#include <map>

#include "backend/backend.h"

namespace dragoman {

/// A backend whose kernels are timed. Times are those of the calling thread and include waits for other threads; time
/// outside kernels is bookkeeping, text and files. A device is timed by its own clock, without waiting for its kernels;
/// they are not recorded (backend/recorder.h), and time outside them is idle time of the device.
class Profile {
 public:
  explicit Profile(const Backend& measured);
  Profile(const Profile&) = delete;

  const Backend& backend() const { return backend_; }
  /// One line per kernel, the longest first: calls, seconds, share of the time since the profile began, GFLOP/s. For a
  /// device also how often memory was allocated, how often the host waited, and how many products were slow because no
  /// kernel was available.
  std::string table() const;

 private:
  std::string device_rows() const;

  Backend backend_;
  std::map<std::string, KernelCost> costs_;
  KernelCost whole_;  // of the stopwatch
  DeviceCounts at_begin_ = {};
  Stopwatch begin_{whole_};
};

}  // namespace dragoman
