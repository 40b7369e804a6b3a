#pragma once
#include "backend/registry.h"
#include "base/threads.h"
#include "tests/temporary_folder.h"
#include "tests/train/log_lines.h"
#include "train/trainer.h"

namespace dragoman {

/// A run that takes a moment: a model of D = 16 that learns to translate numbers word by word ("two nine one" is "zwei
/// neun eins"), pairs of 2 to 5 words; 200 of them make about 18 batches an epoch. Its files lie in a folder of their
/// own.
struct ToyRun {
  explicit ToyRun(int pairs = 200);

  /// Begins or resumes; trains until `updates` in all.
  Progress train_until(int64_t updates);
  std::string model_bytes() const { return read_file(setup.training.model); }
  std::string state_bytes() const { return read_file(state_path(setup.training.model)); }
  std::vector<std::string> files_made() const;  // names in the folder that begin with "model", sorted

  TemporaryFolder files;
  LogLines log;
  TrainingSetup setup;
  RunControl control;
};

/// What an Error says, with its hint; empty when there is none.
std::string message_of(const std::function<void()>& f);

}  // namespace dragoman
