#pragma once
#include <atomic>

namespace dragoman {

/// What may be asked of a run while it lasts, from any thread and from signal handlers. Looked at between updates.
struct RunControl {
  std::atomic<bool> stop = false;      // end after the update at hand, saved
  std::atomic<bool> save = false;      // save once
  std::atomic<bool> validate = false;  // validate once; the figure does not count for early stopping
};
static_assert(std::atomic<bool>::is_always_lock_free);  // signal handlers may write them

}  // namespace dragoman
