#include "ops/linear.h"

#include "backend/backend.h"

namespace dragoman {
namespace {

void check(const Var& x, const Var& w, const Var& b) {
  require(x.shape().rank() == 2 && w.shape().rank() == 2 && x.cols() == w.cols(),
          "linear: x is {} and w {}, expected (N,K) and (D,K)", x.shape(), w.shape());
  require(!b || b.shape() == Shape{w.rows()}, "linear: b is {}, expected {}", b.shape(), Shape{w.rows()});
}

// Row strides of 16-bit matrices are multiples of 16 bytes, for which matrix libraries have their fast kernels.
int64_t aligned(int64_t cols) { return (cols + 7) / 8 * 8; }

}  // namespace

Var linear(Context& cx, const Var& x, const Var& w, const Var& b, Activation act) {
  check(x, w, b);
  const bool fused = act == Activation::none || (act == Activation::relu && !cx.shows_nan);
  if (!fused) return activation(cx, linear(cx, x, w, b), act);
  Var y = cx.make({x.rows(), w.rows()}, x.dtype());
  if (const Tensor* packed = cx.packed_form(w)) {
    const Tensor scratch = cx.scratch(cx.backend.linear_packed_scratch(x.rows(), x.cols(), packed->dtype()));
    cx.backend.linear_packed(y, x, *packed, b, act, scratch);
  } else {
    const Context::Factors factors = cx.factors(x, w);
    cx.backend.linear(y, factors.x, factors.w, b, act);
    cx.record("linear", y, [=](Backward& back) {
      const Tensor& dy = back.grad_out();
      const DType type = factors.x.dtype();
      const Grad db = b ? back.grad(b) : Grad{};
      const Tensor dz =
          is_half(type) ? back.temporary({dy.rows(), aligned(dy.cols())}, type).columns(0, dy.cols()) : dy;
      if (db || act != Activation::none || is_half(type)) back.backend.linear_backward_result(dz, db, dy, y, act);
      if (const Grad dw = back.grad(w)) back.backend.linear_backward_weight(dw, dz, factors.x);
      if (const Grad dx = back.grad(x)) back.backend.linear_backward_input(dx, dz, factors.w);
    });
  }
  return y;
}

WeightRows select_rows(Context& cx, const Var& w, const Tensor& rows) {
  const int64_t R = rows.elements(), K = w.cols();
  const Tensor* packed = cx.packed_form(w);
  if (!packed) {
    const Tensor plain = cx.arena.allocate({R, K}, w.dtype());
    cx.backend.gather_rows(plain, w, rows);
    return {plain, R, false};
  }
  const Tensor selected = cx.arena.allocate({cx.backend.packed_elements(R, K, packed->dtype())}, packed->dtype());
  cx.backend.select_packed(selected, *packed, rows, w.rows(), K);
  return {selected, R, true};
}

Var linear(Context& cx, const Var& x, const WeightRows& w, const Tensor& b) {
  invariant(!cx.tape, "rows of a weight are selected only without a tape");
  if (!w.packed) return linear(cx, x, Var(w.weight), Var(b));
  Var y = cx.make({x.rows(), w.rows}, x.dtype());
  const Tensor scratch = cx.scratch(cx.backend.linear_packed_scratch(x.rows(), x.cols(), w.weight.dtype()));
  cx.backend.linear_packed(y, x, w.weight, b, Activation::none, scratch);
  return y;
}

Var activation(Context& cx, const Var& x, Activation act) {
  Var y = cx.make(x.shape(), x.dtype());
  cx.backend.activation(y, x, act);
  const Var saved = slope_of_output(act) ? y : x;
  cx.record("activation", y, [=](Backward& back) {
    if (const Grad dx = back.grad(x)) back.backend.activation_backward(dx, back.grad_out(), saved, act);
  });
  return y;
}

}  // namespace dragoman
