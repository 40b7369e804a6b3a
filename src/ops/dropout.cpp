#include "ops/dropout.h"

#include "backend/backend.h"

namespace dragoman {

void check_positions(const char* op, const Dropout& drop, int64_t rows) {
  require(!drop.active() || drop.positions.shape() == Shape{rows, 2}, "{}: dropout positions is {}, expected {}", op,
          drop.positions.shape(), Shape{rows, 2});
}

Var residual(Context& cx, const Var& x, const Var& r, const Dropout& drop) {
  require(r.shape() == x.shape(), "residual: r is {}, expected {} like x", r.shape(), x.shape());
  check_positions("residual", drop, x.rows());
  Var y = cx.make(x.shape(), is_half(x.dtype()) ? DType::f32 : x.dtype(), {x, r});
  cx.backend.dropout(y, x, r, drop);
  cx.record("residual", y, [=](Backward& b) {
    if (const Grad dr = b.grad(r)) b.backend.dropout_backward(dr, b.grad_out(), drop);
    b.pass(x);
  });
  return y;
}

Var dropout(Context& cx, const Var& x, const Dropout& drop) {
  if (!drop.active()) return x;
  check_positions("dropout", drop, x.rows());
  Var y = cx.make(x.shape(), x.dtype(), {x});
  cx.backend.dropout(y, Tensor(), x, drop);
  cx.record("dropout", y, [=](Backward& b) {
    if (const Grad dx = b.grad(x)) b.backend.dropout_backward(dx, b.grad_out(), drop);
  });
  return y;
}

}  // namespace dragoman
