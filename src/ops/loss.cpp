#include "ops/loss.h"

namespace dragoman {

LabelLoss linear_cross_entropy(Context& cx, const Var& x, const Var& w, const Tensor& labels, double label_smoothing,
                               const Tensor& weights) {
  require(x.shape().rank() == 2 && w.shape().rank() == 2 && x.cols() == w.cols(),
          "linear_cross_entropy: x is {} and w {}, expected (N,D) and (V,D)", x.shape(), w.shape());
  require(labels.shape() == Shape{x.rows()}, "linear_cross_entropy: labels is {}, expected {}", labels.shape(),
          Shape{x.rows()});
  require(!weights || weights.shape() == Shape{x.rows()}, "linear_cross_entropy: weights is {}, expected {}",
          weights.shape(), Shape{x.rows()});
  const DType stat = stat_type(x.dtype());
  const LabelLoss out{cx.save({x.rows()}, stat), cx.save({x.rows()}, stat)};
  const Context::Factors factors = cx.factors(x, w);
  const Tensor scratch = cx.scratch(cx.backend.linear_cross_entropy_scratch(x.rows(), w.rows(), factors.x.dtype()));
  Backend::LinearCrossEntropy l{
      .loss = out.loss, .log_prob = out.log_prob, .x = factors.x, .w = factors.w, .labels = labels};
  l.label_smoothing = label_smoothing;
  l.scratch = scratch;
  l.weights = weights;
  if (cx.tape) {
    Backward root(cx.backend, cx.arena, x);
    l.dx = root.grad(x);
    l.dw = root.grad(w);
  } else if (const Tensor* packed = cx.packed_form(w)) {
    l.packed = *packed;
  }
  cx.backend.linear_cross_entropy(l);
  return out;
}

}  // namespace dragoman
