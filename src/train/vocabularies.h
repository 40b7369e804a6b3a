#pragma once
#include "io/model_file.h"
#include "train/setup.h"

namespace dragoman {

/// The vocabularies of --vocabs; those whose files are missing are made from the training text first.
Vocabularies open_vocabularies(const TrainingSetup& setup);

/// The configuration with their sizes.
ModelConfig with_vocabularies(ModelConfig config, const Vocabularies& vocabularies);

/// Error unless the model file has these vocabularies: a model knows numbers of pieces only, and in another vocabulary
/// they mean something else. `paths` are those of --vocabs.
void require_its_vocabularies(const std::string& model, const Vocabularies& vocabularies,
                              const std::vector<std::string>& paths);

}  // namespace dragoman
