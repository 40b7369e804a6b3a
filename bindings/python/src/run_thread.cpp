#include "bindings/python/src/run_thread.h"

#include "base/thread_signals.h"

namespace dragoman::python {

std::shared_ptr<RunThread> RunThread::make(std::shared_ptr<Engine> engine, NamedOptions options) {
  return std::shared_ptr<RunThread>(new RunThread(std::move(engine), std::move(options)), &RunThread::destroy);
}

// The copy in a child of fork() stays, as its condition variable has a waiter that never leaves.
void RunThread::destroy(RunThread* run) {
  if (!run->process_.forked()) delete run;
}

RunThread::RunThread(std::shared_ptr<Engine> engine, NamedOptions options)
    : engine_(std::move(engine)), options_(std::move(options)) {}

void RunThread::begin() {
  const std::lock_guard lock(mutex_);
  if (abandoned_) return;
  thread_ = std::thread([this] { work(); });
  ended_ = false;
}

// The run may need the interpreter's lock for a message before it ends.
RunThread::~RunThread() {
  abandon();
  stop();
  const WithoutLock unlocked;
  if (thread_.joinable()) thread_.join();
}

bool RunThread::ended() {
  if (process_.forked()) return true;
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool RunThread::started() {
  const std::lock_guard lock(mutex_);
  return started_;
}

std::optional<RunThread::Event> RunThread::wait() {
  const WithoutLock unlocked;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, signal_interval, [this] { return offered_ || ended_; });
  return offered_;
}

void RunThread::take_event() {
  const std::lock_guard lock(mutex_);
  started_ |= offered_ && std::holds_alternative<RunStarted>(offered_->event);
  offered_.reset();
  changed_.notify_all();
}

void RunThread::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  offered_.reset();
  changed_.notify_all();
}

void RunThread::leave() {
  const std::lock_guard lock(mutex_);
  left_ = true;
  if (started_)
    stop();
  else
    abandoned_ = true;
  offered_.reset();
  changed_.notify_all();
}

// A thread that computes must not meet the end of the process.
void RunThread::close() {
  if (process_.forked()) return;
  leave();
  while (!ended()) {
    wait();
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

std::optional<TrainResult> RunThread::result() const {
  process_.require_not_forked("training run");
  if (failure_) std::rethrow_exception(failure_);
  return result_;
}

void RunThread::work() {
  leave_signals_to_the_program();
  try {
    result_ = train(
        *engine_, options_, [this](const RunMoment& now, const RunEvent& event) { offer(now, event); }, &control_);
  } catch (const Abandoned&) {
  } catch (...) {
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void RunThread::offer(const RunMoment& now, const RunEvent& event) {
  std::unique_lock lock(mutex_);
  if (!abandoned_ && !left_) {
    offered_ = {now, event};
    changed_.notify_all();
    changed_.wait(lock, [this] { return !offered_; });
  }
  if (abandoned_) throw Abandoned();
}

}  // namespace dragoman::python
