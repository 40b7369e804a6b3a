#pragma once
#include "interop/weight_mapping.h"
#include "model/config.h"

namespace dragoman {

/// The weights of encoder and decoder except embeddings and output layer, by the names of fairseq, which transformers
/// uses too, with a `prefix` ("model.").
void map_fairseq_weights(WeightMapping& weights, const ModelConfig& config, const std::string& prefix);

}  // namespace dragoman
