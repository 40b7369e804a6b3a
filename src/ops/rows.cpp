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

}  // namespace dragoman
