#include "ops/recurrent.h"

#include "backend/backend.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

void check(const char* op, const Var& x, const Var& gate) {
  require(x.shape().rank() == 2, "{}: x is {}, expected (N,D)", op, x.shape());
  require(!gate || gate.shape() == x.shape(), "{}: gate is {}, expected {} like x", op, gate.shape(), x.shape());
}

}  // namespace

Var running_average(Context& cx, const Var& stored, const Var& stored_gate, const Spans& spans) {
  const Var x = widened(cx, stored), gate = widened(cx, stored_gate);
  check("running_average", x, gate);
  require(x.rows() == spans.rows(), "running_average: x is {}, but the spans hold {} rows", x.shape(), spans.rows());
  Var c = cx.make(x.shape(), x.dtype(), {x, gate});
  cx.backend.running_average(c, x, gate, spans);
  cx.record("running_average", c, [=](Backward& b) {
    b.backend.running_average_backward(
        Backend::RunningAverageBackward{b.grad(x), gate ? b.grad(gate) : Grad{}, b.grad_out(), c, x, gate, spans});
  });
  return c;
}

Var running_average_step(Context& cx, const Var& stored, const Var& stored_gate, const Tensor& states,
                         const StepKeys& past) {
  const Var x = widened(cx, stored), gate = widened(cx, stored_gate);
  check("running_average_step", x, gate);
  require(states.cols() == x.cols(), "running_average_step: x is {} and states {}, expected (R,D) and (C,D)", x.shape(),
          states.shape());
  require(past.length.shape() == Shape{x.rows()} && past.table.shape().rank() == 2 && past.table.rows() == x.rows(),
          "running_average_step: x is {}, length {} and table {}, expected (R,D), (R) and (R,T)", x.shape(),
          past.length.shape(), past.table.shape());
  Var c = cx.make(x.shape(), x.dtype(), {x, gate});
  cx.backend.running_average_step(c, states, x, gate, past);
  return c;
}

CellState cell(Context& cx, Cell kind, const Var& stored_a, const Var& stored_s, const CellState& before) {
  const Var a = widened(cx, stored_a), s = widened(cx, stored_s);
  const int64_t gates = gates_of(kind);
  require(a.shape().rank() == 2 && a.cols() % gates == 0, "cell: a is {}, expected (n,{}·D)", a.shape(), gates);
  require(!s || s.shape() == a.shape(), "cell: s is {}, expected {} like a", s.shape(), a.shape());
  const Shape state{a.rows(), a.cols() / gates};
  for (const Var& x : {before.h, before.c})
    require(!x || x.shape() == state, "cell: the previous state is {}, expected {}", x.shape(), state);
  const Inputs inputs{a, s, before.h, before.c};
  CellState now{cx.make(state, a.dtype(), inputs), kind == Cell::lstm ? cx.make(state, a.dtype(), inputs) : Var()};
  const Backend::CellStep step{now.h, now.c, a, s, before.h, before.c, kind};
  cx.backend.cell(step);
  cx.record("cell", now.h, [=, c = now.c](Backward& b) {
    const bool gru = kind == Cell::gru;
    const Grad dh_before = gru && before.h ? b.grad(before.h) : Grad{};
    const Grad dc_before = !gru && before.c ? b.grad(before.c) : Grad{};
    b.backend.cell_backward(Backend::CellBackward{b.grad(a), s ? b.grad(s) : Grad{}, dh_before, dc_before, b.grad_out(),
                                                  c ? b.grad_of(c) : Tensor(), step});
  });
  return now;
}

Var gate(Context& cx, const Var& stored, const Var& stored_gate) {
  const Var x = widened(cx, stored), g = widened(cx, stored_gate);
  require(x.shape().rank() == 2 && g.shape() == x.shape(), "gate: x is {} and g {}, expected (N,D) for both", x.shape(),
          g.shape());
  Var y = cx.make(x.shape(), x.dtype(), {x, g});
  cx.backend.gate(y, x, g);
  cx.record("gate", y, [=](Backward& b) {
    const Grad dx = b.grad(x), dg = b.grad(g);
    if (dx || dg) b.backend.gate_backward(dx, dg, b.grad_out(), x, g);
  });
  return y;
}

}  // namespace dragoman
