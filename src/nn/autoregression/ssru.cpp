#include "nn/autoregression/ssru.h"

#include "ops/linear.h"
#include "ops/recurrent.h"

namespace dragoman {

Ssru Ssru::make(Parameters& p, const std::string& name, int64_t dim, double gain, bool norms) {
  if (!norms) return {Linear::make(p, {name + ".state", name + ".forget_gate"}, {dim, dim}, dim, gain), {}, {}};
  constexpr double epsilon = 1e-9;  // Marian's in its recurrent units
  const Init weights = Init::glorot(dim, dim, gain);
  Ssru ssru;
  ssru.product.weight =
      p.matrix({{name + ".state.weight", dim, weights}, {name + ".forget_gate.weight", dim, weights}}, dim);
  ssru.product.update = p.low_rank();
  ssru.state_norm = Norm::make(p, name + ".state_norm", dim, NormKind::layer, epsilon);
  ssru.forget_gate_norm = Norm::make(p, name + ".forget_gate_norm", dim, NormKind::layer, epsilon);
  return ssru;
}

Ssru::Products Ssru::products(Context& cx, const Var& x) const {
  const Var all = product(cx, x);  // (N,2D)
  const Var state = columns(all, 0, x.cols()), forget = columns(all, x.cols(), x.cols());
  if (!state_norm) return {state, forget};
  return {(*state_norm)(cx, state), (*forget_gate_norm)(cx, forget)};
}

Var Ssru::operator()(Context& cx, const Var& x, const SelfRows& rows) const {
  const auto [state, forget] = products(cx, x);
  return activation(cx, running_average(cx, state, forget, rows.spans), Activation::relu);
}

Var Ssru::step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const {
  const auto [state, forget] = products(cx, x);
  return activation(cx, running_average_step(cx, state, forget, cache, rows.past.keys), Activation::relu);
}

}  // namespace dragoman
