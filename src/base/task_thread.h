#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace dragoman {

/// A thread that runs tasks beside the caller, one after the other, with the caller's pool and log.
class TaskThread {
 public:
  /// Throws TooManyThreads.
  TaskThread();
  /// Waits for the task that is running, and drops those that have not begun.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;

  /// Queues a task. The future has its result or its exception.
  template <class F>
  std::future<std::invoke_result_t<F&>> start(F task) {
    using Task = std::packaged_task<std::invoke_result_t<F&>()>;
    const auto queued = std::make_shared<Task>(with_log(with_pool(std::move(task))));
    auto result = queued->get_future();
    push([queued] { (*queued)(); });
    return result;
  }

 private:
  void push(std::function<void()> task);
  void work(std::stop_token stop);

  std::mutex mutex_;  // guards the queue
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;
  std::jthread thread_;  // last: it is stopped and joined before anything it uses goes
};

}  // namespace dragoman
