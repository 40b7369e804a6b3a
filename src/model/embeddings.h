#pragma once
#include "model/config.h"
#include "nn/parameters.h"

namespace dragoman {

/// A table of pieces (rows,D): an embedding, an output layer, or both.
Var make_table(Parameters& p, const std::string& name, int64_t rows, int64_t dim, Parameters::Use use);

/// What stands between pieces and vectors on both sides of a model, (V,D) each; the same one where tied (Press & Wolf
/// 2017).
struct Embeddings {
  Var source, target, output;

  static Embeddings make(Parameters& p, const ModelConfig& config);
};

}  // namespace dragoman
