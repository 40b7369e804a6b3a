#include "nn/autoregression/ssru.h"

#include "ops/linear.h"
#include "ops/recurrent.h"

namespace dragoman {

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
  return activation(cx, running_average_step(cx, state, forget, cache, rows.past.keys), Activation::relu);
}

}  // namespace dragoman
