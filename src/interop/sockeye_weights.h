#pragma once
#include "interop/torch_file.h"
#include "interop/weight_mapping.h"
#include "model/config.h"

namespace dragoman {

/// The tensors of a file of Sockeye's parameters, with keys and values apart; those that translating does not use are
/// left out. Error if they are quantised.
std::vector<ForeignTensor> sockeye_tensors(const TorchFile& file, const std::string& path, const ModelConfig& config);

/// Maps all weights of a model from Sockeye's names.
void map_sockeye_weights(WeightMapping& weights, const ModelConfig& config);

}  // namespace dragoman
