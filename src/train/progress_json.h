#pragma once
#include <string>

#include "nn/baseline.h"
#include "train/progress.h"

namespace dragoman {

/// The numbers of a run that a state file holds as JSON.
struct StoredProgress {
  Progress progress;
  int64_t adam_steps = 0;
  Baseline baseline = {};
};
std::string to_json(const StoredProgress& stored);

/// Error, naming the file at `path`, for what is no such JSON, for a number that is missing and for one that no run can
/// have come to.
StoredProgress progress_from(const std::string& text, const std::string& path);

}  // namespace dragoman
