#pragma once
#include <optional>
#include <vector>

#include "data/survey.h"
#include "train/checkpoint.h"
#include "train/memory.h"
#include "train/vocabularies.h"

namespace dragoman {

/// What a run would do, determined without writing anything except temporary files.
struct DryRun {
  std::vector<MissingVocabulary> missing_vocabularies;  // made for this report only
  CorpusSurvey corpus;
  bool resumes = false;  // from an existing state
  int64_t parameters = 0;
  int64_t of_updates = 0;   // parameters of low-rank updates, which are trained
  MemoryPlan memory;        // for the largest batches of the sample
  int64_t besides = 0;      // on a CPU: bytes of the process outside the plan (program, libraries, kernels, text)
  int64_t batch_words = 0;  // from --mini-batch-words or --mini-batch-fit
  CheckpointSize checkpoint;
  int64_t free_disk = 0;
  // Per epoch; scaled up from the sample if only a sample was read.
  bool sampled = false;
  double updates = 0, target_tokens = 0;
  double epochs = 0;  // that --stream has; 0: epochs have no end
  // Measured on this machine, now:
  int64_t measured_updates = 0;
  double target_tokens_per_second = 0;
};

/// Checks files, memory and disk as a run of these ranks does (Error), `ranks_here` of which are on this machine,
/// surveys the training text and trains for a few seconds.
DryRun dry_run(TrainingSetup setup, const Backend& backend, int ranks = 1, int ranks_here = 1);

/// What a run from the beginning to the first of --after needs, at the measured speed, without validation and saving.
struct RunLength {
  double updates = 0, seconds = 0;
};
std::optional<RunLength> length_of_run(const DryRun& run, const std::vector<Frequency>& after);

}  // namespace dragoman
