#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace dragoman {

/// A pipe that a LineReader opens by name, like /dev/fd/63 of a shell's <(…).
struct Pipe {
  int ends[2];
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() { close(ends[0]), stop(); }
  std::string name() const { return "/dev/fd/" + std::to_string(ends[0]); }
  void send(std::string_view text) const { EXPECT_EQ(write(ends[1], text.data(), text.size()), ssize_t(text.size())); }
  void stop() {
    if (ends[1] >= 0) close(std::exchange(ends[1], -1));
  }
};

}  // namespace dragoman
