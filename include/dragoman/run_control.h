#pragma once
#include <atomic>

namespace dragoman {

/// Requests to a training run, from any thread and from signal handlers. The run checks them between updates. `script`
/// is what it tells them.
struct RunControl {
  std::atomic<bool> stop = false;      // end after the current update, saved
  std::atomic<bool> save = false;      // save once
  std::atomic<bool> validate = false;  // validate once; the figure does not count for early stopping
  /// The process group of --valid-script-path while it runs, else 0. Signals to the group of the program do not reach
  /// it: whoever ends the program without waiting for the run ends it too.
  std::atomic<int> script = 0;
};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);  // for signal handlers

}  // namespace dragoman
