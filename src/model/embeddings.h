#pragma once
#include "model/config.h"
#include "nn/parameters.h"
#include "ops/loss.h"

namespace dragoman {

/// A table of pieces (rows,D): an embedding, an output layer, or both.
Var make_table(Parameters& p, const std::string& name, int64_t rows, int64_t dim, Parameters::Use use);

/// The bias of the output layer (V), or an empty one.
Var make_output_bias(Parameters& p, const ModelConfig& config);

/// The embeddings and the output layer of a model, (V,D) each; tied ones are the same (Press & Wolf 2017).
struct Embeddings {
  Var source, target, output;
  Var output_bias;  // (V) or empty

  OutputWeights output_weights() const { return {output, output_bias}; }

  static Embeddings make(Parameters& p, const ModelConfig& config);
};

}  // namespace dragoman
