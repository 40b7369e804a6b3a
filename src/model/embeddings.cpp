#include "model/embeddings.h"

#include <cmath>

namespace dragoman {

Var make_table(Parameters& p, const std::string& name, int64_t rows, int64_t dim, Parameters::Use use) {
  return p.matrix({{name + ".weight", rows, {Init::normal, 1 / std::sqrt(double(dim))}}}, dim, use);
}

Var make_output_bias(Parameters& p, const ModelConfig& config) {
  return config.embeddings.output_bias ? p.vector({{"output.bias", config.target_vocabulary, Init::zeros()}}) : Var();
}

Embeddings Embeddings::make(Parameters& p, const ModelConfig& config) {
  using Use = Parameters::Use;
  const int D = config.dim, V = config.target_vocabulary;
  Embeddings e;
  e.output_bias = make_output_bias(p, config);
  if (config.embeddings.ties_source() && config.embeddings.ties_output()) {
    e.source = e.target = e.output = make_table(p, "embedding", V, D, Use::both);
    return e;
  }
  e.source = make_table(p, "source_embedding", config.source_vocabulary, D, Use::lookup);
  e.target = config.embeddings.ties_source()
                 ? e.source
                 : make_table(p, "target_embedding", V, D, config.embeddings.ties_output() ? Use::both : Use::lookup);
  e.output = config.embeddings.ties_output() ? e.target : make_table(p, "output", V, D, Use::product);
  return e;
}

}  // namespace dragoman
