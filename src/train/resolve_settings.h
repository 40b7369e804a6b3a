#pragma once
#include "train/memory.h"
#include "train/vocabularies.h"

namespace dragoman {

class Communicator;

/// Whether the run resumes from a training state, rather than begins. Error if there is a model without its state.
bool resumes(const TrainingSetup& setup);

/// The number of gradient shards for a run on this many ranks: --gradient-shards, else that of its state, else one, or
/// at least eight with several ranks. Error if there are fewer shards than ranks.
int shards_of_run(const TrainingSetup& setup, int ranks);

/// The setup with `auto` and `fastest` replaced by their precision on this backend; `auto` also turns
/// --half-activations on where it is bfloat16, for models that have them. Reads and writes no files. Error if
/// --half-activations does not fit the precision.
TrainingSetup with_precision(TrainingSetup setup, const Backend& backend);

/// The size of an epoch, exact or estimated.
struct EpochSize {
  double updates, target_tokens;
};

/// Warns if --after ends the run before --lr-warmup does, or long after --lr-schedule has taken the rate to 0, as far
/// as the number of updates is known beforehand.
void warn_of_schedule(const TrainingSetup& setup, const EpochSize& epoch);

/// Completes a setup that was prepared (train/prepare.h) with what depends on text and memory: with --mini-batch-fit,
/// the batch size. All ranks call it together, since the GPU with the least free memory decides. Error if there is too
/// little memory.
MemoryPlan resolve_settings(TrainingSetup& setup, const Backend& backend, const Corpus& corpus, Communicator& ranks);

}  // namespace dragoman
