#pragma once
#include "train/memory.h"
#include "train/vocabularies.h"

namespace dragoman {

class Communicator;

/// Into how many shards a run on so many ranks cuts its updates: --gradient-shards, else those of its state, else one,
/// and of several ranks at least eight. Error if they are fewer than ranks.
int shards_of_run(const TrainingSetup& setup, int ranks);

/// The setup with the precision that `auto` and `fastest` mean on this backend, before anything is read or written.
/// Error if --half-activations does not fit the precision or the model.
TrainingSetup with_precision(TrainingSetup setup, const Backend& backend);

/// Completes the setup of a run by what vocabularies, text and memory decide: the model's sizes, and with
/// --mini-batch-fit the size of batches; and by the number of ranks that of gradient shards. All ranks call it
/// together: their GPUs may have different memory free, and the least decides. Error when there is too little memory.
MemoryPlan resolve_settings(TrainingSetup& setup, const Backend& backend, const Vocabularies& vocabularies,
                            const Corpus& corpus, Communicator& ranks);

}  // namespace dragoman
