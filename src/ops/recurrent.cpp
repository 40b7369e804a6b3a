#include "ops/recurrent.h"

namespace dragoman {
namespace {

void check(const char* op, const Var& x, const Var& gate) {
  require(x.shape().rank() == 2, "{}: x is {}, expected (N,D)", op, x.shape());
  require(!gate || gate.shape() == x.shape(), "{}: gate is {}, expected {} as x", op, gate.shape(), x.shape());
}

}  // namespace

Var running_average(Context& cx, const Var& x, const Var& gate, const Spans& spans) {
  check("running_average", x, gate);
  require(x.rows() == spans.rows(), "running_average: x is {}, but the spans hold {} rows", x.shape(), spans.rows());
  Var c = cx.make(x.shape(), x.dtype());
  cx.backend.running_average(c, x, gate, spans);
  cx.record("running_average", c, [=](Backward& b) {
    b.backend.running_average_backward(
        Backend::RunningAverageBackward{b.grad(x), gate ? b.grad(gate) : Grad{}, b.grad_out(), c, x, gate, spans});
  });
  return c;
}

Var running_average_step(Context& cx, const Var& x, const Var& gate, const Tensor& states, const StepKeys& past) {
  check("running_average_step", x, gate);
  require(states.cols() == x.cols(), "running_average_step: x is {} and states {}, expected (R,D) and (C,D)", x.shape(),
          states.shape());
  require(past.length.shape() == Shape{x.rows()} && past.table.shape().rank() == 2 && past.table.rows() == x.rows(),
          "running_average_step: x is {}, length {} and table {}, expected (R,D), (R) and (R,T)", x.shape(),
          past.length.shape(), past.table.shape());
  Var c = cx.make(x.shape(), x.dtype());
  cx.backend.running_average_step(c, states, x, gate, past);
  return c;
}

Var gate(Context& cx, const Var& x, const Var& g) {
  require(x.shape().rank() == 2 && g.shape() == x.shape(), "gate: x is {} and g {}, expected (N,D) twice", x.shape(),
          g.shape());
  Var y = cx.make(x.shape(), x.dtype());
  cx.backend.gate(y, x, g);
  cx.record("gate", y, [=](Backward& b) {
    const Grad dx = b.grad(x), dg = b.grad(g);
    if (dx || dg) b.backend.gate_backward(dx, dg, b.grad_out(), x, g);
  });
  return y;
}

}  // namespace dragoman
