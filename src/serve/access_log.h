#pragma once
#include <optional>
#include <string>

#include "base/file.h"

namespace dragoman {

/// The log entry of a request, written when it has ended.
struct AccessEntry {
  std::string peer, method, path;
  int status = 0;  // 499: the client had gone
  double seconds = 0;
  size_t bytes_in = 0;  // of the body
};

/// One JSON object per line, for programs to read. A full disk does not stop the server: it logs one warning.
class AccessLog {
 public:
  explicit AccessLog(const std::string& path);  // "-": stdout; empty: nothing is written
  void write(const AccessEntry& entry);

 private:
  std::optional<FileDescriptor> file_;
};

}  // namespace dragoman
