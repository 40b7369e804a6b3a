#include "nn/autoregression.h"

#include "ops/dropout.h"
#include "ops/linear.h"
#include "ops/recurrent.h"

namespace dragoman {

AverageAttention AverageAttention::make(Parameters& p, const std::string& name, int64_t dim, const Design& d) {
  const auto linear = [&](const char* part, int64_t rows, int64_t columns) {
    return Linear::make(p, {name + part}, {rows}, columns, d.gain);
  };
  AverageAttention a;
  a.feed_forward = {linear(".feed_forward.up", d.feed_forward, dim), linear(".feed_forward.down", dim, d.feed_forward),
                    d.activation, d.dropout};
  if (!d.gated) return a;
  a.input_gate = linear(".input_gate", dim, dim);
  a.forget_gate = linear(".forget_gate", dim, dim);
  return a;
}

Var AverageAttention::result(Context& cx, const Var& x, const Var& mean, const Tensor& positions) const {
  const Var g = feed_forward(cx, mean, positions);
  if (!input_gate.weight) return g;
  return residual(cx, gate(cx, x, input_gate(cx, x)), gate(cx, g, forget_gate(cx, g)), {});
}

Var AverageAttention::operator()(Context& cx, const Var& x, const SelfRows& rows) const {
  return result(cx, x, running_average(cx, x, Var(), rows.spans), rows.positions);
}

Var AverageAttention::step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const {
  return result(cx, x, running_average_step(cx, x, Var(), cache, rows.past), rows.positions);
}

Ssru Ssru::make(Parameters& p, const std::string& name, int64_t dim, double gain) {
  return {Linear::make(p, {name + ".state", name + ".forget_gate"}, {dim, dim}, dim, gain)};
}

Var Ssru::operator()(Context& cx, const Var& x, const SelfRows& rows) const {
  const Var all = product(cx, x);  // (N,2D)
  const Var state = columns(all, 0, x.cols()), forget = columns(all, x.cols(), x.cols());
  return activation(cx, running_average(cx, state, forget, rows.spans), Activation::relu);
}

Var Ssru::step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const {
  const Var all = product(cx, x);  // (R,2D)
  const Var state = columns(all, 0, x.cols()), forget = columns(all, x.cols(), x.cols());
  return activation(cx, running_average_step(cx, state, forget, cache, rows.past), Activation::relu);
}

Var AutoregressiveLayer::operator()(Context& cx, const Var& x, const SelfRows& rows) const {
  if (const auto* attention = std::get_if<SelfAttention>(&kind)) return (*attention)(cx, x, rows, true);
  if (const auto* average = std::get_if<AverageAttention>(&kind)) return (*average)(cx, x, rows);
  return std::get<Ssru>(kind)(cx, x, rows);
}

Var AutoregressiveLayer::step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const {
  return std::visit([&](const auto& k) { return k.step(cx, x, cache, rows); }, kind);
}

}  // namespace dragoman
