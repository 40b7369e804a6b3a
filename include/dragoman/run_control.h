#pragma once
#include <atomic>

namespace dragoman {

/// Requests to a training run, from any thread and from signal handlers. The run checks them between updates.
struct RunControl {
  std::atomic<bool> stop = false;      // end after the current update, saved
  std::atomic<bool> save = false;      // save once
  std::atomic<bool> validate = false;  // validate once; the figure does not count for early stopping
};
static_assert(std::atomic<bool>::is_always_lock_free);  // signal handlers may write them

}  // namespace dragoman
