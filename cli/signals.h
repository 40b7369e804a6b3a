#pragma once
#include "train/run_control.h"

namespace dragoman {

/// While this lives, SIGINT, SIGTERM and SIGHUP ask the run to end after the update at hand; a second SIGINT or SIGTERM
/// ends the process at once. A terminal that closes may send SIGHUP more than once, and a SIGTERM after it, so those
/// are no second ones. A signal that the process was started to ignore, as SIGHUP under nohup, stays ignored.
class StopSignals {
 public:
  explicit StopSignals(RunControl& control);
  ~StopSignals();
};

/// While this lives, SIGUSR1 asks for a save and SIGUSR2 for a validation, instead of ending the process.
class RequestSignals {
 public:
  explicit RequestSignals(RunControl& control);
  ~RequestSignals();
};

}  // namespace dragoman
