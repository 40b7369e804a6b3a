#include "nn/encoders/convolution.h"

#include "ops/recurrent.h"
#include "ops/rows.h"

namespace dragoman {

GatedConvolution GatedConvolution::make(Parameters& p, const std::string& name, int64_t dim, int width) {
  const std::string at = name + ".convolution.";
  return {Linear::make(p, {at + "value", at + "gate"}, {dim, dim}, width * dim),
          Norm::make(p, name + ".convolution_norm", dim), width};
}

Var GatedConvolution::operator()(Context& cx, const Var& x, const Spans& spans, const Dropout& drop) const {
  const Var both = product(cx, neighbours(cx, x, spans, width));  // (N,2D)
  const Var gated = gate(cx, columns(both, 0, x.cols()), columns(both, x.cols(), x.cols()));
  return norm.of_sum(cx, x, gated, drop);
}

}  // namespace dragoman
