#pragma once
#include <map>

#include "backend/backend.h"

namespace dragoman {

/// Where the time goes: a backend whose kernels are timed. Times are of the calling thread, waiting for the others and
/// for the device included, so that a GPU's kernels do not overlap with the host's work as they do otherwise; what is
/// outside kernels is bookkeeping, text and files.
class Profile {
 public:
  explicit Profile(const Backend& measured);
  Profile(const Profile&) = delete;

  const Backend& backend() const { return backend_; }
  /// A line a kernel, the longest first: calls, seconds, share of the time since the profile began, GFLOP/s.
  std::string table() const;

 private:
  Backend backend_;
  std::map<std::string, KernelCost> costs_;
  KernelCost whole_;  // of the stopwatch
  Stopwatch begin_{whole_};
};

}  // namespace dragoman
