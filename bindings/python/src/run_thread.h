#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/own_process.h"
#include "bindings/python/src/bindings.h"
#include "dragoman/engine.h"
#include "dragoman/train.h"

namespace dragoman::python {

/// A training run in a thread of its own, so that Python's thread, which waits for it, sees Ctrl-C. The run pauses at
/// each event until that thread has taken it. In a child of fork() there is no such thread: the run counts as ended,
/// and result() is an Error.
class RunThread {
 public:
  static std::shared_ptr<RunThread> make(std::shared_ptr<Engine> engine, NamedOptions options);
  /// Abandons the run.
  ~RunThread();
  RunThread(const RunThread&) = delete;

  struct Event {
    RunMoment now;
    RunEvent event;
  };

  /// Starts the run, unless it is abandoned already.
  void begin();
  bool ended();
  /// Whether RunStarted was taken.
  bool started();
  /// The event at which the run pauses. None: it has ended, or none came in time.
  std::optional<Event> wait();
  void take_event();
  /// Ends the run after the current update, saved.
  void stop() { control_.stop = true; }
  /// Ends a run that pauses at an event, unsaved.
  void abandon();
  /// Lets the run end by itself, without pauses: after the current update, saved, or if it has not started, unsaved
  /// when it would.
  void leave();
  /// Leaves the run and waits for its end. Throws what a signal raises.
  void close();
  /// Of a run that has ended; none if it was abandoned. Throws what ended it.
  std::optional<TrainResult> result() const;

 private:
  struct Abandoned {};
  RunThread(std::shared_ptr<Engine> engine, NamedOptions options);
  static void destroy(RunThread* run);
  void work();
  void offer(const RunMoment& now, const RunEvent& event);

  const OwnProcess process_;
  const std::shared_ptr<Engine> engine_;
  const NamedOptions options_;
  RunControl control_;
  std::optional<TrainResult> result_;
  std::exception_ptr failure_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::optional<Event> offered_;
  bool started_ = false, left_ = false, abandoned_ = false, ended_ = true;
  std::thread thread_;
};

}  // namespace dragoman::python
