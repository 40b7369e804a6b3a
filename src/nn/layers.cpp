#include "nn/layers.h"

#include "ops/dropout.h"
#include "ops/linear.h"
#include "ops/norm.h"

namespace dragoman {

Linear Linear::make(Parameters& p, const std::vector<std::string>& names, const std::vector<int64_t>& rows,
                    int64_t inputs, double gain) {
  std::vector<Parameters::Part> weights, biases;
  for (size_t i = 0; i < names.size(); ++i) {
    weights.push_back({names[i] + ".weight", rows[i], Init::glorot(rows[i], inputs, gain)});
    biases.push_back({names[i] + ".bias", rows[i], Init::zeros()});
  }
  return {p.matrix(weights, inputs), p.vector(biases)};
}

Var Linear::operator()(Context& cx, const Var& x, Activation act) const { return linear(cx, x, weight, bias, act); }

Norm Norm::make(Parameters& p, const std::string& name, int64_t dim, NormKind kind) {
  Norm norm{p.vector({{name + ".weight", dim, Init::ones()}}), Var()};
  if (kind == NormKind::layer) norm.bias = p.vector({{name + ".bias", dim, Init::zeros()}});
  return norm;
}

Var Norm::operator()(Context& cx, const Var& x) const { return layer_norm(cx, x, weight, bias); }

Var FeedForward::operator()(Context& cx, const Var& x, const Tensor& places) const {
  return down(cx, dragoman::dropout(cx, up(cx, x, act), cx.dropout(dropout, places)));
}

}  // namespace dragoman
