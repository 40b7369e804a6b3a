#pragma once
#include <system_error>

#include "base/error.h"

namespace dragoman {

/// The system cannot start more threads: a limit is reached.
class TooManyThreads : public Error {
 public:
  explicit TooManyThreads(const std::system_error& reason);
};

/// Calls `start`, which starts threads, and returns what it returns. Throws TooManyThreads if the system starts no
/// more.
template <class F>
auto new_thread(const F& start) {
  try {
    return start();
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    throw TooManyThreads(error);
  }
}

}  // namespace dragoman
