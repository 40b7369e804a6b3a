#pragma once
#include <optional>
#include <vector>

#include "data/survey.h"
#include "train/destination.h"
#include "train/memory.h"

namespace dragoman {

/// What a run would be, found without writing anything but temporary files.
struct DryRun {
  std::vector<std::string> missing_vocabularies;  // learned for this report only
  CorpusSurvey corpus;
  bool resumes = false;  // from a state that is there
  int64_t parameters = 0;
  MemoryPlan memory;        // of the largest batches of the sample
  int64_t besides = 0;      // bytes of the process beside that plan: program, libraries, kernels, text; of a CPU's run
  int64_t batch_words = 0;  // that --mini-batch-words or --mini-batch-fit make of it
  CheckpointSize checkpoint;
  int64_t free_disk = 0;
  // Of an epoch; where the corpus was sampled, they are scaled up from the sample.
  bool sampled = false;
  double updates = 0, target_tokens = 0;
  // Measured on this machine, now:
  int64_t measured_updates = 0;
  double target_tokens_per_second = 0;
};

/// Checks files, memory and disk as a run does (Error), surveys the training text and trains for a moment.
DryRun dry_run(TrainingSetup setup, const Backend& backend, int ranks = 1);

/// What the run needs until the nearest of --after, when it begins anew, as measured and without validating and saving.
struct RunLength {
  double updates = 0, seconds = 0;
};
std::optional<RunLength> length_of_run(const DryRun& run, const std::vector<Frequency>& after);

}  // namespace dragoman
