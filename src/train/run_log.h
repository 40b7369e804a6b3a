#pragma once
#include <memory>
#include <string>
#include <vector>

#include "train/options.h"
#include "train/progress.h"
#include "train/run_event.h"

namespace dragoman {

/// One way of writing a run down. Throws Error when it cannot.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void take(const RunMoment& now, const RunEvent& event) = 0;
  /// After every update, with what the next report would say: for what is redrawn in place.
  virtual void tick(const RunMoment&, const RunReport&) {}
};

/// Tells all sinks that the options ask for what happens: lines on stderr and the progress bar, --log-json,
/// --tensorboard. A file that can no longer be written is given up with a warning: no log is worth a run.
class RunLog {
 public:
  /// Opens the files; Error when that fails.
  explicit RunLog(const TrainingOptions& options);

  void announce(const Progress& progress, const RunEvent& event);
  void tick(const Progress& progress, const RunReport& so_far);

 private:
  struct Named {
    std::string option;
    std::unique_ptr<RunSink> sink;
  };
  RunMoment moment(const Progress& progress) const;

  Clock clock_;
  std::vector<Named> sinks_;
};

}  // namespace dragoman
