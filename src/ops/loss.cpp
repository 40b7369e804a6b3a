#include "ops/loss.h"

#include "backend/backend.h"

namespace dragoman {

namespace {

void check(const Var& x, const Var& w, const Labels& labels) {
  require(x.shape().rank() == 2 && w.shape().rank() == 2 && x.cols() == w.cols(),
          "linear_cross_entropy: x is {} and w {}, expected (N,D) and (V,D)", x.shape(), w.shape());
  const auto& [ids, smoothing, weights, copying] = labels;
  const Shape rows{x.rows()}, numbers{x.rows(), 1};
  require(ids.shape() == rows, "linear_cross_entropy: labels is {}, expected {}", ids.shape(), rows);
  require(!weights || weights.shape() == rows, "linear_cross_entropy: weights is {}, expected {}", weights.shape(),
          rows);
  require((!copying.gate && !copying.copied) || (copying.gate.shape() == numbers && copying.copied.shape() == numbers),
          "linear_cross_entropy: gate is {} and copied {}, expected {} or neither", copying.gate.shape(),
          copying.copied.shape(), numbers);
}

}  // namespace

LabelLoss linear_cross_entropy(Context& cx, const Var& x, const Var& w, const Labels& labels) {
  check(x, w, labels);
  const DType stat = stat_type(x.dtype());
  const LabelLoss out{cx.save({x.rows()}, stat), cx.save({x.rows()}, stat)};
  const Context::Factors factors = cx.factors(x, w);
  const Tensor scratch = cx.scratch(cx.backend.linear_cross_entropy_scratch(x.rows(), w.rows(), factors.x.dtype()));
  Backend::LinearCrossEntropy l{
      .loss = out.loss, .log_prob = out.log_prob, .x = factors.x, .w = factors.w, .labels = labels.ids};
  l.label_smoothing = labels.smoothing;
  l.scratch = scratch;
  l.weights = labels.weights;
  l.gate = labels.copying.gate;
  l.copied = labels.copying.copied;
  if (cx.tape) {
    Backward root(cx.backend, cx.arena, x);
    l.dx = root.grad(x);
    l.dw = root.grad(w);
    l.dgate = root.grad(labels.copying.gate);
    l.dcopied = root.grad(labels.copying.copied);
  } else if (const Tensor* packed = cx.packed_form(w)) {
    l.packed = *packed;
  }
  cx.backend.linear_cross_entropy(l);
  return out;
}

LabelLoss linear_cross_entropy(Context& cx, const Var& x, const Var& w, const Tensor& labels, double label_smoothing,
                               const Tensor& weights) {
  return linear_cross_entropy(cx, x, w, {.ids = labels, .smoothing = label_smoothing, .weights = weights});
}

}  // namespace dragoman
