#include "base/task_thread.h"

#include "base/new_thread.h"
#include "base/thread_signals.h"

namespace dragoman {

TaskThread::TaskThread()
    : thread_(new_thread([this] { return std::jthread([this](std::stop_token stop) { work(stop); }); })) {}

TaskThread::~TaskThread() = default;

void TaskThread::push(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(task));
  changed_.notify_one();
}

void TaskThread::work(std::stop_token stop) {
  leave_signals_to_the_program();
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !queue_.empty(); }) && !stop.stop_requested()) {
    const auto task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace dragoman
