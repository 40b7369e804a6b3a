#pragma once
#include <string>

#include "nn/baseline.h"
#include "train/progress.h"

namespace dragoman {

/// The numbers of a run that a state file stores as JSON.
struct StoredProgress {
  Progress progress;
  int64_t adam_steps = 0;
  Baseline baseline = {};
};
std::string to_json(const StoredProgress& stored);

/// Error, naming the file at `path`, for malformed JSON, and for a number that is missing or impossible.
StoredProgress progress_from(const std::string& text, const std::string& path);

}  // namespace dragoman
