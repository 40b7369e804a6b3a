#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "dragoman/run_event.h"
#include "runlog/options.h"
#include "runlog/unwritten.h"

namespace dragoman {

/// One form of the log of a run. Throws Error if writing fails.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void take(const RunMoment& now, const RunEvent& event) = 0;
  /// Called after every update with what a report would say now: for output that is redrawn in place.
  virtual void tick(const RunMoment&, const RunReport&) {}
  /// Called after the last event: some disks report only then that they are full.
  virtual void close() {}
};

/// Passes events to all sinks that the options request: lines on stderr and the progress bar, --log-json,
/// --tensorboard, --valid-log. A file that can no longer be written is dropped with a warning and added to
/// `unwritten`; the run continues.
class RunLog {
 public:
  /// Opens the files; Error when that fails.
  RunLog(const RunLogOptions& options, Unwritten& unwritten);

  /// The log itself fills in the seconds of a moment.
  void announce(RunMoment now, const RunEvent& event);
  void tick(RunMoment now, const RunReport& so_far);
  void close();

 private:
  struct Named {
    std::string option;
    std::unique_ptr<RunSink> sink;
  };
  template <class F>
  void for_each_sink(const F& f);

  Unwritten& unwritten_;
  Clock clock_;
  std::vector<Named> sinks_;
};

}  // namespace dragoman
