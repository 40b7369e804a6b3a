#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/error.h"
#include "base/file_calls.h"

namespace dragoman {

inline int calls_until_failure = 0;  // of all kinds; 0 and below: none fails any more
inline bool failed = false;

inline bool fails_now() {
  if (--calls_until_failure != 0) return false;
  failed = true;
  errno = ENOSPC;
  return true;
}

/// While this lives, the n-th call that writes fails, and a write takes 50,000 bytes at most.
class FailingCalls {
 public:
  explicit FailingCalls(int n) {
    calls_until_failure = n;
    failed = false;
    file_calls() = {
        .open = [](const char* path, int flags,
                   mode_t mode) { return fails_now() ? -1 : system.open(path, flags, mode); },
        .write = [](int file, const void* data, size_t bytes) -> ssize_t {
          return fails_now() ? -1 : system.write(file, data, std::min<size_t>(bytes, 50'000));
        },
        .truncate = [](int file, off_t bytes) { return fails_now() ? -1 : system.truncate(file, bytes); },
        .sync = [](int file) { return fails_now() ? -1 : system.sync(file); },
        .close =
            [](int file) {
              const int result = system.close(file);  // a close that fails closes all the same
              return fails_now() ? -1 : result;
            },
        .rename = [](const char* from, const char* to) { return fails_now() ? -1 : system.rename(from, to); }};
  }
  ~FailingCalls() { file_calls() = system; }

 private:
  static const FileCalls system;
};

inline const FileCalls FailingCalls::system = file_calls();

/// Lets each call of `write` fail in turn: Error each time, until none is left. The number of calls that failed.
inline int fail_each_call(
    const std::function<void()>& write, const std::function<void()>& check = [] {}) {
  for (int n = 1;; ++n) {
    bool thrown = false;
    {
      const FailingCalls failing(n);
      try {
        write();
      } catch (const Error&) {
        thrown = true;
      }
    }
    EXPECT_EQ(thrown, failed) << "call " << n;
    if (!failed || n > 1000) return n - 1;
    check();
  }
}

}  // namespace dragoman
