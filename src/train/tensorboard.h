#pragma once
#include "train/event_file.h"
#include "train/run_log.h"

namespace dragoman {

/// --tensorboard: scalars of reports (train/…) and validations (valid/…), the step is the update. One file a call; of
/// a run that resumes, TensorBoard drops what the call before had written beyond the checkpoint.
class TensorBoardLog : public RunSink {
 public:
  explicit TensorBoardLog(const std::string& folder);
  void take(const RunMoment& now, const RunEvent& event) override;

 private:
  EventFile file_;
};

}  // namespace dragoman
