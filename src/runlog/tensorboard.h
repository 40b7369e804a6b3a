#pragma once
#include "runlog/event_file.h"
#include "runlog/run_log.h"

namespace dragoman {

/// --tensorboard: scalars of reports (train/…) and validations (valid/…), the step is the update. Each call writes a
/// new file; when a run resumes, TensorBoard drops what the previous call wrote after the checkpoint.
class TensorBoardLog : public RunSink {
 public:
  explicit TensorBoardLog(const std::string& folder);
  void take(const RunMoment& now, const RunEvent& event) override;
  void close() override { file_.close(); }

 private:
  EventFile file_;
};

}  // namespace dragoman
