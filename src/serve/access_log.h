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

/// One JSON object per line, for programs to read. A full disk does not stop the server: entries are lost while writing
/// fails, and the first one is reported.
class AccessLog {
 public:
  explicit AccessLog(const std::string& path);  // "-": stdout; empty: nothing is written
  void write(const AccessEntry& entry);
  /// Opens the path again, as the file may have been renamed (log rotation). If that fails, the old file stays.
  void reopen();

 private:
  void write_line(const std::string& line);
  void lose(const std::string& reason);

  const std::string path_;
  std::optional<FileDescriptor> file_;
  bool failing_ = false;  // the last entry was lost
  bool cut_ = false;      // the file ends within a line
};

}  // namespace dragoman
