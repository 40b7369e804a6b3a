#pragma once
#include "train/memory.h"
#include "train/vocabularies.h"

namespace dragoman {

/// Completes the setup of a run by what vocabularies, text and memory decide: the model's sizes, and with
/// --mini-batch-fit the size of batches. Error when there is too little memory.
MemoryPlan resolve_settings(TrainingSetup& setup, const Backend& backend, const Vocabularies& vocabularies,
                            const Corpus& corpus);

}  // namespace dragoman
