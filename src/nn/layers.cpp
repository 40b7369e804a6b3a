#include "nn/layers.h"

#include "ops/dropout.h"
#include "ops/linear.h"

namespace dragoman {

Linear Linear::make(Parameters& p, const std::vector<std::string>& names, const std::vector<int64_t>& rows,
                    int64_t inputs, double gain) {
  std::vector<Parameters::Slice> weights, biases;
  for (size_t i = 0; i < names.size(); ++i) {
    weights.push_back({names[i] + ".weight", rows[i], Init::glorot(rows[i], inputs, gain)});
    biases.push_back({names[i] + ".bias", rows[i], Init::zeros()});
  }
  Linear made{.weight = p.matrix(weights, inputs), .bias = {}, .update = p.low_rank()};
  made.bias = p.vector(biases);
  return made;
}

Var Linear::operator()(Context& cx, const Var& x, Activation act) const {
  return update ? linear(cx, x, weight, bias, update, act) : linear(cx, x, weight, bias, act);
}

Norm Norm::make(Parameters& p, const std::string& name, int64_t dim, NormKind kind, double epsilon) {
  Norm norm{.weight = p.vector({{name + ".weight", dim, Init::ones()}}), .bias = {}, .running = {}, .epsilon = epsilon};
  if (kind != NormKind::rms) norm.bias = p.vector({{name + ".bias", dim, Init::zeros()}});
  if (kind == NormKind::batch)
    norm.running = {p.statistic({name + ".running_mean", dim, Init::zeros()}),
                    p.statistic({name + ".running_variance", dim, Init::ones()})};
  return norm;
}

Var Norm::operator()(Context& cx, const Var& x) const {
  return running ? batch_norm(cx, x, weight, bias, running, epsilon) : layer_norm(cx, x, weight, bias, epsilon);
}

Var Norm::of_sum(Context& cx, const Var& x, const Var& r, const Dropout& drop) const {
  return running ? (*this)(cx, residual(cx, x, r, drop)) : residual_norm(cx, x, r, weight, bias, drop, epsilon);
}

Var FeedForward::operator()(Context& cx, const Var& x, const Tensor& positions) const {
  const Var inner = gated ? dragoman::gated(cx, up(cx, x), act) : up(cx, x, act);
  return down(cx, dragoman::dropout(cx, inner, cx.dropout(dropout, positions)));
}

}  // namespace dragoman
