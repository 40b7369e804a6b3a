#pragma once
#include <string>
#include <vector>

#include "io/model_file.h"
#include "options/train_table.h"

namespace dragoman {

/// The options of train that give a model with this configuration, and that learn vocabularies like these where they
/// can be learned, as YAML for `train -c`.
std::string options_of(const ModelConfig& config, const Vocabularies& vocabularies);

/// With --pretrained-model, sets the options that define the architecture to the values of that model, or of the run's
/// own state if it resumes. Without --sentence-ends, a hierarchical model keeps its pieces: the marks are then empty.
/// Error if the user gave such an option another value.
void inherit_model(TrainOptions& given, std::vector<Option>& options);

}  // namespace dragoman
