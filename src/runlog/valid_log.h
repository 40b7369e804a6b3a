#pragma once
#include "base/file.h"
#include "runlog/run_log.h"

namespace dragoman {

/// --valid-log: the lines of validation, appended as `[date time] line`.
class ValidLog : public RunSink {
 public:
  explicit ValidLog(const std::string& path) : file_(FileDescriptor::to_append_lines(path)) {}
  void take(const RunMoment& now, const RunEvent& event) override;
  void close() override { file_.close(); }

 private:
  FileDescriptor file_;
};

}  // namespace dragoman
