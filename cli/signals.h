#pragma once
#include "dragoman/run_control.h"

namespace dragoman {

/// While this lives, SIGINT, SIGTERM and SIGHUP stop the run after the current update; a second SIGINT or SIGTERM ends
/// the process at once. SIGHUP does not count as a first signal, because a closing terminal may repeat it or send
/// SIGTERM after it. Signals that the process was started to ignore, such as SIGHUP under nohup, stay ignored.
class StopSignals {
 public:
  explicit StopSignals(RunControl& control);
  ~StopSignals();
};

/// While this lives, SIGUSR1 requests a save and SIGUSR2 a validation instead of ending the process.
class RequestSignals {
 public:
  explicit RequestSignals(RunControl& control);
  ~RequestSignals();
};

}  // namespace dragoman
