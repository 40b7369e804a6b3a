#include "nn/autoregression/average_attention.h"

#include "ops/dropout.h"
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
  return result(cx, x, running_average_step(cx, x, Var(), cache, rows.past.keys), rows.positions);
}

}  // namespace dragoman
