#pragma once
#include "train/memory.h"
#include "train/vocabularies.h"

namespace dragoman {

class Communicator;

/// Whether the run resumes from a training state, rather than begins. Error if there is a model without its state.
bool resumes(const TrainingSetup& setup);
/// The same for a complete setup. Error also if the state or the model file beside it does not fit the run.
bool resumes(const TrainingSetup& setup, const Vocabularies& vocabularies);

/// The number of gradient shards for a run on this many ranks: --gradient-shards, else that of its state, else one, or
/// at least eight with several ranks. Error if there are fewer shards than ranks.
int shards_of_run(const TrainingSetup& setup, int ranks);

/// The setup with `auto` and `fastest` replaced by their precision on this backend; `auto` also turns
/// --half-activations on where it is bfloat16, for models that have them. Reads and writes no files. Error if
/// --half-activations does not fit the precision.
TrainingSetup with_precision(TrainingSetup setup, const Backend& backend);

/// Completes the setup with values that depend on vocabularies, text and memory: the model's sizes, the number of
/// gradient shards and, with --mini-batch-fit, the batch size. All ranks call it together, since the GPU with the least
/// free memory decides. Error if there is too little memory.
MemoryPlan resolve_settings(TrainingSetup& setup, const Backend& backend, const Vocabularies& vocabularies,
                            const Corpus& corpus, Communicator& ranks);

}  // namespace dragoman
