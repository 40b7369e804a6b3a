#include "ops/rows.h"

namespace dragoman {

Var gather_rows(Context& cx, const Var& x, const Tensor& rows) {
  require(x.shape().rank() == 2 && rows.shape().rank() == 1, "gather_rows: x is {} and rows {}, expected (N,D) and (M)",
          x.shape(), rows.shape());
  Var y = cx.make({rows.elements(), x.cols()}, x.dtype());
  cx.backend.gather_rows(y, x, rows);
  cx.record("gather_rows", y, [=](Backward& b) {
    const Grad dx = b.grad(x);
    if (!dx) return;
    const Tensor all = dx.adds() ? b.temporary(x.shape(), x.dtype()) : dx.tensor;
    b.backend.fill(all, 0);
    b.backend.scatter_rows(all, b.grad_out(), rows);
    if (dx.adds()) b.backend.add(dx.tensor, all, 1);
  });
  return y;
}

namespace {

// What has gathered in a part of the output goes on to what the part was copied from.
void pass_part(Backward& b, const Var& x, const Tensor& part) {
  const Grad dx = b.grad(x);
  if (!dx) return;
  if (dx.adds()) return b.backend.add(dx.tensor, part, 1);
  b.backend.copy(dx.tensor, part);
}

}  // namespace

Var stack_rows(Context& cx, const std::vector<Var>& parts) {
  require(!parts.empty(), "stack_rows: there are no parts");
  int64_t rows = 0;
  for (const Var& part : parts) {
    require(part.shape().rank() == 2 && part.cols() == parts[0].cols(), "stack_rows: a part is {}, another {}",
            part.shape(), parts[0].shape());
    rows += part.rows();
  }
  Var y = cx.make({rows, parts[0].cols()}, parts[0].dtype());
  int64_t first = 0;
  for (const Var& part : parts) {
    cx.backend.copy(y.value().row_range(first, part.rows()), part);
    first += part.rows();
  }
  cx.record("stack_rows", y, [=](Backward& b) {
    int64_t at = 0;
    for (const Var& part : parts) {
      pass_part(b, part, b.grad_out().row_range(at, part.rows()));
      at += part.rows();
    }
  });
  return y;
}

Var join_columns(Context& cx, const Var& a, const Var& b) {
  require(a.shape().rank() == 2 && b.shape().rank() == 2 && a.rows() == b.rows(),
          "join_columns: a is {} and b {}, expected (N,D) and (N,E)", a.shape(), b.shape());
  Var y = cx.make({a.rows(), a.cols() + b.cols()}, a.dtype());
  cx.backend.copy(y.value().columns(0, a.cols()), a);
  cx.backend.copy(y.value().columns(a.cols(), b.cols()), b);
  cx.record("join_columns", y, [=](Backward& back) {
    pass_part(back, a, back.grad_out().columns(0, a.cols()));
    pass_part(back, b, back.grad_out().columns(a.cols(), b.cols()));
  });
  return y;
}

Var neighbours(Context& cx, const Var& x, const Spans& spans, int width) {
  require(x.shape().rank() == 2 && x.rows() == spans.rows(), "neighbours: x is {}, but the spans hold {} rows",
          x.shape(), spans.rows());
  require(width > 0, "neighbours: a width of {}, expected 1 at least", width);
  Var y = cx.make({x.rows(), width * x.cols()}, x.dtype());
  cx.backend.neighbours(y, x, spans);
  cx.record("neighbours", y, [=](Backward& b) {
    if (const Grad dx = b.grad(x)) b.backend.neighbours_backward(dx, b.grad_out(), spans);
  });
  return y;
}

Var pool(Context& cx, const Var& x, const Spans& spans, Pool kind) {
  require(x.shape().rank() == 2 && x.rows() == spans.rows(), "pool: x is {}, but the spans hold {} rows", x.shape(),
          spans.rows());
  Var y = cx.make({spans.sentences(), x.cols()}, x.dtype());
  cx.backend.pool(y, x, spans, kind == Pool::mean);
  cx.record("pool", y, [=](Backward& b) {
    if (const Grad dx = b.grad(x)) b.backend.pool_backward(dx, b.grad_out(), spans, kind == Pool::mean);
  });
  return y;
}

}  // namespace dragoman
