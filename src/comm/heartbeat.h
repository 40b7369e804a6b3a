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
  /// All ranks create it together. If nothing is received from a rank for this many seconds, `lost` is called once, in
  /// a separate thread, with a description; it should end the process. Error if ranks cannot reach rank 0.
  Heartbeat(Communicator& ranks, double seconds, std::function<void(const std::string& what)> lost);
  /// Says goodbye, so that the other ranks stop expecting bytes from this rank.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;

 private:
  class Pulse;
  std::unique_ptr<Pulse> pulse_;  // null for a single process
};

}  // namespace dragoman
