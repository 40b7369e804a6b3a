#pragma once

namespace dragoman {

/// While this lives, SIGINT and SIGTERM ask the run to end after the update at hand; a second one ends the process.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  static bool asked();
};

}  // namespace dragoman
