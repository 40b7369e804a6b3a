#pragma once

namespace dragoman {

/// While this lives, SIGINT and SIGTERM ask the run to end after the update at hand; a second one ends the process.
/// A signal that the process was started to ignore stays ignored.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  static bool asked();
};

}  // namespace dragoman
