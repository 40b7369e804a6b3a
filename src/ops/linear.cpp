#include "ops/linear.h"

#include "backend/backend.h"

namespace dragoman {
namespace {

void check(const Var& x, const Var& w, const Var& b) {
  require(x.shape().rank() == 2 && w.shape().rank() == 2 && x.cols() == w.cols(),
          "linear: x is {} and w {}, expected (N,K) and (D,K)", x.shape(), w.shape());
  require(!b || b.shape() == Shape{w.rows()}, "linear: b is {}, expected {}", b.shape(), Shape{w.rows()});
}

// The gradient of the sum that act gets, in this type. db is empty afterwards if it has been computed, too.
Tensor gradient_of_sum(Backward& back, Grad& db, const Tensor& y, Activation act, DType type) {
  const Tensor& dy = back.grad_out();
  if (act == Activation::none && dy.dtype() == type) return dy;
  const Tensor dz = dy.dtype() == type ? dy : back.temporary(dy.shape(), type);
  back.backend.linear_backward_result(dz, std::exchange(db, {}), dy, y, act);
  return dz;
}

// y has type `result`.
Var product(Context& cx, const Var& x, const Var& w, const Var& b, Activation act, const Context::Factors& factors,
            DType result) {
  Var y = cx.make({x.rows(), w.rows()}, result, {x, w, b});
  const Tensor saved = w.node() ? factors.x : Tensor();
  cx.backend.linear(y, factors.x, factors.w, cx.bias_for(result, b), act);
  cx.record("linear", y, [=, weight = factors.w](Backward& back) {
    Grad db = b ? back.grad(b) : Grad{};
    const Tensor dz = gradient_of_sum(back, db, y, act, weight.dtype());
    if (const Grad dw = back.grad(w); dw || db) back.backend.linear_backward_weight(dw, db, dz, saved);
    if (const Grad dx = back.grad(x)) back.backend.linear_backward_input(dx, dz, weight);
  });
  return y;
}

// y = act(x · wᵀ + b + h · upᵀ) in type `result`, where h = x · downᵀ. The tape keeps x, h and, if act needs it, y.
Var sum_of_products(Context& cx, const Var& x, const Var& w, const Var& b, const LowRankUpdate& u, Activation act,
                    DType result) {
  const Context::Factors of_w = cx.factors(x, w);
  const Tensor fx = of_w.x, fw = of_w.w;  // with fx, factors() copies nothing
  const Tensor down = cx.factors(Var(fx), u.down).w, up = cx.factors(Var(fx), u.up).w;
  Var y = cx.make({x.rows(), w.rows()}, result, {x, w, b, u.down, u.up});
  const auto make = [&](int64_t cols) { return allocate_activation(cx.arena, {x.rows(), cols}, w.dtype()); };
  Tensor h = make(down.rows());
  cx.backend.linear(h, fx, down, Tensor(), Activation::none);
  h = cx.factor(h, up.dtype());
  {
    const Tensor sum = result == w.dtype() ? y.value() : make(w.rows()), update = make(w.rows());
    cx.backend.linear(sum, fx, fw, b, Activation::none);
    cx.backend.linear(update, h, up, Tensor(), Activation::none);
    cx.backend.add(sum, update, 1.0);
    if (act != Activation::none) cx.backend.activation(sum, sum, act);
    if (result != w.dtype()) cx.backend.copy(y, sum);
  }
  cx.record("linear", y, [=, sum_type = w.dtype()](Backward& back) {
    Grad db = b ? back.grad(b) : Grad{};
    const Tensor dz = gradient_of_sum(back, db, y, act, fw.dtype());
    if (const Grad dw = back.grad(w); dw || db) back.backend.linear_backward_weight(dw, db, dz, fx);
    if (const Grad dup = back.grad(u.up)) back.backend.linear_backward_weight(dup, Grad{}, dz, h);
    Tensor dh = back.temporary(h.shape(), sum_type);
    back.backend.linear_backward_input(Grad{dh}, dz, up);
    if (down.dtype() != sum_type) {
      const Tensor rounded = back.temporary(h.shape(), down.dtype());
      back.backend.copy(rounded, dh);
      dh = rounded;
    }
    if (const Grad ddown = back.grad(u.down)) back.backend.linear_backward_weight(ddown, Grad{}, dh, fx);
    if (const Grad dx = back.grad(x)) {
      back.backend.linear_backward_input(dx, dz, fw);
      back.backend.linear_backward_input(Grad{dx.tensor, Accumulate::yes}, dh, down);
    }
  });
  return y;
}

// Packed products and activations of their own give the type of w, whatever `result` is.
Var linear(Context& cx, const Var& stored, const Var& w, const Var& b, Activation act, DType result) {
  const Var x = cx.rounds(w) ? stored : widened(cx, stored);
  check(x, w, b);
  const bool fused = act == Activation::none || (act == Activation::relu && !cx.shows_nan);
  if (const Tensor* packed = cx.packed_form(w)) {
    if (!fused) return activation(cx, linear(cx, x, w, b), act);
    Var y = cx.make({x.rows(), w.rows()}, x.dtype(), {x, w, b});
    const Tensor scratch = cx.scratch(cx.backend.linear_packed_scratch(x.rows(), x.cols(), packed->dtype()));
    cx.backend.linear_packed(y, x, *packed, b, act, scratch);
    return y;
  }
  const Context::Factors factors = cx.factors(x, w);
  // An activation of its own computes in f32.
  if (!fused) return activation(cx, product(cx, x, w, b, Activation::none, factors, w.dtype()), act);
  return product(cx, x, w, b, act, factors, result);
}

}  // namespace

Var linear(Context& cx, const Var& x, const Var& w, const Var& b, Activation act) {
  return linear(cx, x, w, b, act, cx.rounds(w) ? cx.activation_type(w.dtype()) : w.dtype());
}

Var linear(Context& cx, const Var& stored, const Var& w, const Var& b, const LowRankUpdate& update, Activation act) {
  require(update.down.cols() == w.cols() && update.up.shape() == Shape{w.rows(), update.down.rows()},
          "linear: down is {} and up {}, expected (R,{}) and ({},R)", update.down.shape(), update.up.shape(), w.cols(),
          w.rows());
  const Var x = cx.rounds(w) ? stored : widened(cx, stored);
  if (cx.packed_form(w)) {
    const Var y = linear(cx, x, w, b);
    cx.backend.add(y, linear(cx, linear(cx, x, update.down, {}), update.up, {}), 1.0);
    return act == Activation::none ? y : activation(cx, y, act);
  }
  check(x, w, b);
  // An activation of its own computes in f32.
  if (act != Activation::none && (act != Activation::relu || cx.shows_nan))
    return activation(cx, sum_of_products(cx, x, w, b, update, Activation::none, w.dtype()), act);
  return sum_of_products(cx, x, w, b, update, act, cx.rounds(w) ? cx.activation_type(w.dtype()) : w.dtype());
}

Var wide_linear(Context& cx, const Var& x, const Var& w, const Var& b) {
  return linear(cx, x, w, b, Activation::none, w.dtype());
}

WeightRows select_rows(Context& cx, const Var& w, const Tensor& rows) {
  const int64_t R = rows.elements(), K = w.cols();
  const Tensor* packed = cx.packed_form(w);
  if (!packed) {
    const Tensor& all = cx.rounds(w) ? cx.rounded->copies.at(w.value().data()) : w.value();
    const Tensor plain = cx.arena.allocate({R, K}, all.dtype());
    cx.backend.gather_rows(plain, all, rows);
    return {plain, R, false};
  }
  const Tensor selected = cx.arena.allocate({cx.backend.packed_elements(R, K, packed->dtype())}, packed->dtype());
  cx.backend.select_packed(selected, *packed, rows, w.rows(), K);
  return {selected, R, true};
}

Var linear(Context& cx, const Var& stored, const WeightRows& w, const Tensor& b) {
  invariant(!cx.tape, "rows of a weight are selected only without a tape");
  if (is_half(w.weight.dtype()) && !w.packed) {
    Var y = cx.make({stored.rows(), w.rows}, DType::f32, {});
    cx.backend.linear(y, cx.factor(stored, w.weight.dtype()), w.weight, b, Activation::none);
    return y;
  }
  const Var x = widened(cx, stored);
  if (!w.packed) return linear(cx, x, Var(w.weight), Var(b));
  Var y = cx.make({x.rows(), w.rows}, x.dtype(), {});
  const Tensor scratch = cx.scratch(cx.backend.linear_packed_scratch(x.rows(), x.cols(), w.weight.dtype()));
  cx.backend.linear_packed(y, x, w.weight, b, Activation::none, scratch);
  return y;
}

Var activation(Context& cx, const Var& stored, Activation act) {
  const Var x = widened(cx, stored);
  Var y = cx.make(x.shape(), x.dtype(), {x});
  cx.backend.activation(y, x, act);
  const Var saved = slope_of_output(act) ? y : x;
  cx.record("activation", y, [=](Backward& back) {
    if (const Grad dx = back.grad(x)) back.backend.activation_backward(dx, back.grad_out(), saved, act);
  });
  return y;
}

Var gated(Context& cx, const Var& x, Activation act) {
  require(x.shape().rank() == 2 && x.cols() % 2 == 0, "gated: x is {}, expected (N,2*D)", x.shape());
  Var y = cx.make({x.rows(), x.cols() / 2}, x.dtype(), {x});
  cx.backend.gated(y, x, act);
  cx.record("gated", y, [=](Backward& back) {
    if (const Grad dx = back.grad(x)) back.backend.gated_backward(dx, back.grad_out(), x, act);
  });
  return y;
}

Var widened(Context& cx, const Var& x) {
  if (!is_half(x.dtype())) return x;
  Var y = cx.make(x.shape(), DType::f32, {x});
  cx.backend.copy(y, x);
  cx.record("widened", y, [=](Backward& back) { back.pass(x); });
  return y;
}

}  // namespace dragoman
