#include "ops/loss.h"

#include <algorithm>

#include "backend/backend.h"
#include "backend/copying.h"
#include "ops/linear.h"
#include "ops/rows.h"

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

constexpr int64_t int8_rows = 256;

// Only linear_packed multiplies in 8 bits, so logits exist, of some rows at a time.
void int8_cross_entropy(Context& cx, const Var& x, const OutputWeights& output, const Targets& targets,
                        const TokenLoss& out) {
  const Tensor gates = targets.copying.gate ? targets.copying.gate.value().on_host() : Tensor();
  const Tensor copied = targets.copying.gate ? targets.copying.copied.value().on_host() : Tensor();
  const Tensor weights = targets.weights ? targets.weights.on_host() : Tensor();
  const Tensor loss = out.loss.room_on_host(), log_prob = out.log_prob.room_on_host();
  for (int64_t from = 0; from < x.rows(); from += int8_rows) {
    const int64_t count = std::min(int8_rows, x.rows() - from);
    const Var logits = wide_linear(cx, rows(x, from, count), output.weight, output.bias);
    const Tensor best = cx.arena.allocate({count, 1}, logits.dtype()), id = cx.arena.allocate({count, 1}, DType::i32);
    const Tensor lse = cx.arena.allocate({count}, logits.dtype());
    cx.backend.top_k(best, id, lse, logits);
    const Tensor picked = pick_columns(cx, logits, targets.ids.row_range(from, count)).value().on_host();
    const Tensor sums = lse.on_host();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t n = from + i;
      const float generated = picked.as<float>()[i] - sums.as<float>()[i];
      const float p =
          gates ? target_mixture(generated, gates.as<float>()[n], copied.as<float>()[n]).log_prob : generated;
      log_prob.as<float>()[n] = p;
      loss.as<float>()[n] = -p * (weights ? weights.as<float>()[n] : 1.f);
    }
  }
  out.loss.assign(loss);
  out.log_prob.assign(log_prob);
}

}  // namespace

TokenLoss linear_cross_entropy(Context& cx, const Var& stored, const OutputWeights& output, const Targets& targets) {
  const Var& w = output.weight;
  const Var x = cx.rounds(w) && !is_half(stored.gradient_type()) ? stored : widened(cx, stored);
  check(x, output, targets);
  const DType stat = stat_type(x.dtype());
  const TokenLoss out{cx.save({x.rows()}, stat), cx.save({x.rows()}, stat)};
  const Tensor* packed = cx.tape ? nullptr : cx.packed_form(w);
  if (packed && packed->dtype() == DType::i8) {
    require(targets.smoothing == 0, "linear_cross_entropy: losses with weights in 8 bits are not smoothed");
    int8_cross_entropy(cx, x, output, targets, out);
    return out;
  }
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
  } else if (packed) {
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
