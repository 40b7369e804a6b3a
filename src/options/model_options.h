#pragma once
#include <string>
#include <vector>

#include "options/train_table.h"

namespace dragoman {

/// The options of train that give a model with this configuration, as YAML for `train -c`, except --sentence-ends,
/// which a model stores only as ids of pieces.
std::string options_of(const ModelConfig& config);

/// With --pretrained-model, sets the options that define the architecture to the values of that model, or of the run's
/// own state if it resumes. Error if the user gave such an option another value.
void inherit_model(TrainOptions& given, std::vector<Option>& options);

}  // namespace dragoman
