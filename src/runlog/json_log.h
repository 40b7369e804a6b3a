#pragma once
#include "base/file.h"
#include "runlog/run_log.h"

namespace dragoman {

/// --log-json: one JSON object per line, appended and written immediately. docs/run_log.md lists the fields.
class JsonLog : public RunSink {
 public:
  explicit JsonLog(const std::string& path);
  void take(const RunMoment& now, const RunEvent& event) override;
  void close() override { file_.close(); }

 private:
  FileDescriptor file_;
};

/// The line of an event, without its end; `time` is seconds since 1970. What is not finite is null.
std::string json_line(const RunMoment& now, const RunEvent& event, int64_t time);

}  // namespace dragoman
