#pragma once
#include <functional>
#include <memory>
#include <string>

#include "comm/communicator.h"

namespace dragoman {

/// Notices ranks that hang, or whose machine has gone, while all others wait for them: every rank and rank 0 send each
/// other a byte now and then, over TCP connections of their own and in threads of their own. Ranks that work for long
/// (validation, saving) are alive; one that is stopped, swapped out or cut off is not.
class Heartbeat {
 public:
  /// All ranks make one together. `lost` is called once, in a thread of its own, with what has happened, when nothing
  /// has been heard of a rank for so many seconds; it should end the process. Error if ranks cannot reach rank 0.
  Heartbeat(Communicator& ranks, double seconds, std::function<void(const std::string& what)> lost);
  /// Says goodbye: the silence of this rank means nothing any more.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;

 private:
  class Pulse;
  std::unique_ptr<Pulse> pulse_;  // none for a process on its own
};

}  // namespace dragoman
