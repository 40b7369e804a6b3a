#pragma once
#include <string>
#include <vector>

#include "options/train_table.h"

namespace dragoman {

/// The options of train that make a model of this configuration, as YAML for `train -c`. All but --sentence-ends, which
/// a model knows as pieces of its vocabulary alone.
std::string options_of(const ModelConfig& config);

/// With --pretrained-model, gives the options that decide the kind of model the values of that model, or of the run's
/// own state when it resumes. Error for one that the user gave another value.
void inherit_model(TrainOptions& given, std::vector<Option>& options);

}  // namespace dragoman
