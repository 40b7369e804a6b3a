#pragma once
#include "interop/weight_mapping.h"
#include "model/config.h"

namespace dragoman {

/// Maps the weights of encoder and decoder, except embeddings and output layer, from fairseq's names. transformers uses
/// the same names with a `prefix` ("model.").
void map_fairseq_weights(WeightMapping& weights, const ModelConfig& config, const std::string& prefix);

}  // namespace dragoman
