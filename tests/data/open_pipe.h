#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace dragoman {

/// A named pipe that has a text, of which more may come until end().
class OpenPipe {
 public:
  OpenPipe(const std::string& path, const std::string& text) : path(path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    pipe_ = open(path.c_str(), O_RDWR | O_CLOEXEC);  // for reading too, so that no reader is needed yet
    EXPECT_EQ(write(pipe_, text.data(), text.size()), ssize_t(text.size()));
  }
  ~OpenPipe() { end(); }
  OpenPipe(const OpenPipe&) = delete;

  void end() {
    if (pipe_ >= 0) close(pipe_);
    pipe_ = -1;
  }

  const std::string path;

 private:
  int pipe_ = -1;
};

}  // namespace dragoman
