#pragma once
#include "train/resolve_settings.h"

namespace dragoman {

/// Checks that need not read the training text, which may take minutes: they come before that.

/// Error unless the files that the run reads can be opened, those that it writes at its end can be made, and the
/// program of --valid-script-path exists.
void require_files(const TrainingSetup& setup);

/// Completes the setup with the sizes of the vocabularies, the number of gradient shards and, if the run resumes, the
/// distribution of its initial weights. Error if the state, the model file beside it or, for a new run,
/// --pretrained-model does not fit the run, or if --freeze names no parameter. Returns whether the run resumes.
bool prepare(TrainingSetup& setup, const Backend& backend, const Vocabularies& vocabularies, int ranks);

}  // namespace dragoman
