#pragma once
#include <map>

#include "backend/backend.h"

namespace dragoman {

/// Where the time goes: a backend whose kernels are timed. Times are of the calling thread, waiting for the others
/// included; what is outside kernels is bookkeeping, text and files. A device's are by its own clock: nobody waits for
/// its kernels, but they are not recorded (backend/recorder.h), and what is outside them is when it had nothing to do.
class Profile {
 public:
  explicit Profile(const Backend& measured);
  Profile(const Profile&) = delete;

  const Backend& backend() const { return backend_; }
  /// A line a kernel, the longest first: calls, seconds, share of the time since the profile began, GFLOP/s. For a
  /// device also how often memory was allocated there, how often the host waited for it, and how many products were
  /// slow for want of a kernel.
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
