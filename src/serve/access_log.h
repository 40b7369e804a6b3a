#pragma once
#include <optional>
#include <string>

#include "base/file.h"

namespace dragoman {

/// What is written of a request when it has ended.
struct AccessEntry {
  std::string peer, method, path;
  int status = 0;  // 499: the client had gone
  double seconds = 0;
  size_t bytes_in = 0;  // of the body
};

/// A JSON object a line, for programs to read. A full disk does not stop the server: a warning says so, once.
class AccessLog {
 public:
  explicit AccessLog(const std::string& path);  // "-": stdout; empty: nothing is written
  void write(const AccessEntry& entry);

 private:
  std::optional<FileDescriptor> file_;
};

}  // namespace dragoman
