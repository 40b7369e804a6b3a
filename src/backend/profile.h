#pragma once
#include <map>

#include "backend/backend.h"

namespace dragoman {

/// Where the time goes: a backend whose kernels are timed. Times are of the calling thread, waiting for the others and
/// for the device included, so that a GPU's kernels do not overlap with the host's work as they do otherwise, and are
/// not recorded (backend/recorder.h); what is outside kernels is bookkeeping, text and files.
class Profile {
 public:
  explicit Profile(const Backend& measured);
  Profile(const Profile&) = delete;

  const Backend& backend() const { return backend_; }
  /// A line a kernel, the longest first: calls, seconds, share of the time since the profile began, GFLOP/s. For a
  /// device also how often memory was allocated there, and how often the host waited for it, the profile's own waits
  /// left out.
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
