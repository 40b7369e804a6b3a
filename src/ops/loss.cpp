#include "ops/loss.h"

#include "backend/backend.h"
#include "ops/linear.h"

namespace dragoman {

namespace {

void check(const Var& x, const OutputWeights& output, const Targets& targets) {
  const Var& w = output.weight;
  require(x.shape().rank() == 2 && w.shape().rank() == 2 && x.cols() == w.cols(),
          "linear_cross_entropy: x is {} and w {}, expected (N,D) and (V,D)", x.shape(), w.shape());
  require(!output.bias || output.bias.shape() == Shape{w.rows()}, "linear_cross_entropy: bias is {}, expected {}",
          output.bias.shape(), Shape{w.rows()});
  const auto& [ids, smoothing, weights, copying] = targets;
  const Shape rows{x.rows()}, numbers{x.rows(), 1};
  require(ids.shape() == rows, "linear_cross_entropy: targets is {}, expected {}", ids.shape(), rows);
  require(!weights || weights.shape() == rows, "linear_cross_entropy: weights is {}, expected {}", weights.shape(),
          rows);
  require((!copying.gate && !copying.copied) || (copying.gate.shape() == numbers && copying.copied.shape() == numbers),
          "linear_cross_entropy: gate is {} and copied {}, expected {} or neither", copying.gate.shape(),
          copying.copied.shape(), numbers);
}

}  // namespace

TokenLoss linear_cross_entropy(Context& cx, const Var& stored, const OutputWeights& output, const Targets& targets) {
  const Var& w = output.weight;
  const Var x = cx.rounds(w) && !is_half(stored.gradient_type()) ? stored : widened(cx, stored);
  check(x, output, targets);
  const DType stat = stat_type(x.dtype());
  const TokenLoss out{cx.save({x.rows()}, stat), cx.save({x.rows()}, stat)};
  const Context::Factors factors = cx.factors(x, w);
  const Tensor scratch = cx.scratch(cx.backend.linear_cross_entropy_scratch(x.rows(), w.rows(), factors.x.dtype()));
  Backend::LinearCrossEntropy l{
      .loss = out.loss, .log_prob = out.log_prob, .x = factors.x, .w = factors.w, .targets = targets.ids};
  l.label_smoothing = targets.smoothing;
  l.scratch = scratch;
  l.weights = targets.weights;
  l.bias = output.bias;
  l.gate = targets.copying.gate;
  l.copied = targets.copying.copied;
  if (cx.tape) {
    Backward root(cx.backend, cx.arena, x);
    l.dx = root.grad(x);
    l.dw = root.grad(w);
    if (output.bias) l.dbias = root.grad(output.bias);
    l.dgate = root.grad(targets.copying.gate);
    l.dcopied = root.grad(targets.copying.copied);
  } else if (const Tensor* packed = cx.packed_form(w)) {
    l.packed = *packed;
  }
  cx.backend.linear_cross_entropy(l);
  return out;
}

TokenLoss linear_cross_entropy(Context& cx, const Var& x, const Var& w, const Tensor& targets, double label_smoothing,
                               const Tensor& weights) {
  return linear_cross_entropy(cx, x, {w}, {.ids = targets, .smoothing = label_smoothing, .weights = weights});
}

}  // namespace dragoman
