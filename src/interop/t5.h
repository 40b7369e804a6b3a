#pragma once
#include "interop/json_object.h"
#include "interop/weight_mapping.h"
#include "model/config.h"

namespace dragoman {

/// Whether `model_type` is mt5, whose class has other defaults than T5's.
bool is_mt5(const JsonObject& config);

/// T5, T5 1.1, mT5 and models of these classes, such as MADLAD-400: sets what the class computes (Raffel et al. 2020),
/// except the special ids. Error, naming the key, for what dragoman does not support.
void set_t5(ModelConfig& model, const JsonObject& config);

/// The weights of such a model; sets which tables of embeddings are the same. T5 has no biases: ours are zero. Where T5
/// multiplies the input of the output layer by D^-½, which mT5 of version 5 never does, the weights of the decoder's
/// final norm contain the factor.
std::vector<TensorEntry> t5_weights(WeightMapping& weights, ModelConfig& model, const JsonObject& config);

}  // namespace dragoman
