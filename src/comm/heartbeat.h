#pragma once
#include <functional>
#include <memory>
#include <string>

#include "comm/communicator.h"

namespace dragoman {

/// Detects ranks that hang or whose machine has failed while the others wait for them. Every rank and rank 0 regularly
/// send each other a byte, over separate TCP connections and in separate threads. So a rank with long work (validation,
/// saving) counts as alive; a rank that is stopped, swapped out or cut off does not.
class Heartbeat {
 public:
  /// A rank that the others wait for in vain.
  struct Loss {
    std::string what;
    bool reported;  // that rank has reported the error that ended it
  };
  /// All ranks create it together. If nothing is received from a rank for this many seconds, or if it has failed,
  /// `lost` is called once, in a separate thread; it should end the process. Error if ranks cannot reach rank 0.
  Heartbeat(Communicator& ranks, double seconds, std::function<void(const Loss& loss)> lost);
  /// This rank has done its work: the others stop expecting bytes from it.
  void finish();
  /// This rank ends with an error, which it reports: the others lose it after `seconds_for_errors`, in which it may do
  /// so. They may be waiting for it where no closed connection wakes them, as in NCCL.
  void fail();
  static constexpr double seconds_for_errors = 10;
  /// Without a call of these, the others hear nothing more, as if this rank had died.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;

 private:
  class Pulse;
  std::unique_ptr<Pulse> pulse_;  // null for a single process
};

}  // namespace dragoman
