#pragma once
#include <mutex>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/log.h"

namespace dragoman {

/// While this lives, messages of the thread that made it, and of those that work for it, are also appended to a file,
/// as `[date time] message`. If writing fails, the work continues: a message reports the failure, and close() throws.
class MessageFile {
 public:
  explicit MessageFile(const std::string& path);
  /// To the file alone.
  void write(std::string_view message);
  void close();

 private:
  std::mutex mutex_;
  FileDescriptor file_;
  bool done_ = false;    // nothing more is written
  std::string failure_;  // why, if it is an error
  const LogSink* const other_;
  const LogSink both_;
  const LogScope scope_{&both_};
};

/// "[2026-01-31 12:00:00] message" and the end of the line.
std::string with_time(std::string_view message);

}  // namespace dragoman
