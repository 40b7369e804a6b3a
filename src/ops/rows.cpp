#include "ops/rows.h"

#include "backend/backend.h"
#include "ops/linear.h"

namespace dragoman {

Var gather_rows(Context& cx, const Var& stored, const Tensor& rows) {
  const Var x = widened(cx, stored);
  require(x.shape().rank() == 2 && rows.shape().rank() == 1, "gather_rows: x is {} and rows {}, expected (N,D) and (M)",
          x.shape(), rows.shape());
  Var y = cx.make({rows.elements(), x.cols()}, x.dtype(), {x});
  cx.backend.gather_rows(y, x, rows);
  cx.record("gather_rows", y, [=](Backward& b) {
    b.overwrite(x, [&](const Tensor& dx) {
      b.backend.fill(dx, 0);
      b.backend.scatter_rows(dx, b.grad_out(), rows);
    });
  });
  return y;
}

Var pick_columns(Context& cx, const Var& stored, const Tensor& columns) {
  const Var x = widened(cx, stored);
  const int64_t N = x.rows(), D = x.cols();
  require(x.shape().rank() == 2 && x.value().contiguous() && columns.shape() == Shape{N},
          "pick_columns: x is {} and columns {}, expected (N,D), contiguous, and (N)", x.shape(), columns.shape());
  std::vector<int32_t> positions(columns.as<int32_t>(), columns.as<int32_t>() + N);
  for (int64_t n = 0; n < N; ++n) positions[n] += int32_t(n * D);
  const Tensor picked = int_tensor(std::move(positions), {N});  // indices into x viewed as a single column
  Var y = cx.make({N, 1}, x.dtype(), {x});
  cx.backend.gather_rows(y, x.value().reshaped({N * D, 1}), picked);
  cx.record("pick_columns", y, [=](Backward& b) {
    b.overwrite(x, [&](const Tensor& dx) {
      b.backend.fill(dx, 0);
      b.backend.scatter_rows(dx.reshaped({N * D, 1}), b.grad_out(), picked);
    });
  });
  return y;
}

namespace {

// copy_rows with `width` copies side by side in each row of the result: rows (M·W), result (M,W·D).
Var copies_of(Context& cx, const char* op, const Var& x, const Tensor& rows, const Tensor& copies, int64_t width) {
  const int64_t M = rows.elements(), D = x.cols();
  Var y = cx.make({M / width, width * D}, x.dtype(), {x});
  cx.backend.mix_rows(y.value().reshaped({M, D}), x, rows.reshaped({M, 1}), Tensor());
  cx.record(op, y, [=](Backward& b) {
    b.overwrite(x, [&](const Tensor& dx) { b.backend.mix_rows(dx, b.grad_out().reshaped({M, D}), copies, Tensor()); });
  });
  return y;
}

}  // namespace

Var copy_rows(Context& cx, const Var& stored, const Tensor& rows, const Tensor& copies) {
  const Var x = widened(cx, stored);
  require(x.shape().rank() == 2 && rows.shape().rank() == 1 && copies.shape().rank() == 2 && copies.rows() == x.rows(),
          "copy_rows: x is {}, rows {} and copies {}, expected (N,D), (M) and (N,k)", x.shape(), rows.shape(),
          copies.shape());
  return copies_of(cx, "copy_rows", x, rows, copies, 1);
}

Var strided_windows(Context& cx, const Var& stored, const Spans& spans, int width) {
  const Var x = widened(cx, stored);
  require(x.shape().rank() == 2 && x.rows() == spans.rows(), "strided_windows: x is {}, but the spans hold {} rows",
          x.shape(), spans.rows());
  require(width > 0, "strided_windows: width is {}, expected at least 1", width);
  std::vector<int32_t> rows, copies(size_t(x.rows()), -1);
  for (int s = 0; s < spans.sentences(); ++s)
    for (int64_t last = spans[s].begin; last < spans[s].end; last += width)
      for (int64_t n = last - width + 1; n <= last; ++n) {
        const bool in_range = n >= spans[s].begin;
        if (in_range) copies[size_t(n)] = int32_t(rows.size());
        rows.push_back(in_range ? int32_t(n) : -1);
      }
  const auto M = int64_t(rows.size());
  return copies_of(cx, "strided_windows", x, int_tensor(std::move(rows), {M}),
                   int_tensor(std::move(copies), {x.rows(), 1}), width);
}

Var mix_rows(Context& cx, const Var& stored, const Tensor& rows, const Var& weights) {
  const Var x = widened(cx, stored);
  require(x.shape().rank() == 2 && rows.shape().rank() == 2 && weights.shape() == rows.shape(),
          "mix_rows: x is {}, rows {} and weights {}, expected (M,D), (N,k) and (N,k)", x.shape(), rows.shape(),
          weights.shape());
  Var y = cx.make({rows.rows(), x.cols()}, x.dtype(), {x, weights});
  cx.backend.mix_rows(y, x, rows, weights);
  cx.record("mix_rows", y, [=](Backward& b) {
    b.backend.mix_rows_backward(b.grad(x), b.grad(weights), b.grad_out(), x, rows, weights);
  });
  return y;
}

namespace {

// Passes the gradient of a part of the output on to the input that the part was copied from.
void pass_part(Backward& b, const Var& x, const Tensor& part) {
  const Grad dx = b.grad(x);
  if (!dx) return;
  if (dx.adds()) return b.backend.add(dx.tensor, part, 1);
  b.backend.copy(dx.tensor, part);
}

}  // namespace

Var stack_rows(Context& cx, const std::vector<Var>& parts) {
  require(!parts.empty(), "stack_rows: no parts given");
  int64_t rows = 0;
  for (const Var& part : parts) {
    require(part.shape().rank() == 2 && part.cols() == parts[0].cols(),
            "stack_rows: parts are {} and {}, expected equal column counts", part.shape(), parts[0].shape());
    rows += part.rows();
  }
  Var y = cx.make({rows, parts[0].cols()}, parts[0].dtype(), Inputs(parts));
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
  Var y = cx.make({a.rows(), a.cols() + b.cols()}, a.dtype(), {a, b});
  cx.backend.copy(y.value().columns(0, a.cols()), a);
  cx.backend.copy(y.value().columns(a.cols(), b.cols()), b);
  cx.record("join_columns", y, [=](Backward& back) {
    pass_part(back, a, back.grad_out().columns(0, a.cols()));
    pass_part(back, b, back.grad_out().columns(a.cols(), b.cols()));
  });
  return y;
}

Var neighbours(Context& cx, const Var& stored, const Spans& spans, int width) {
  const Var x = widened(cx, stored);
  require(x.shape().rank() == 2 && x.rows() == spans.rows(), "neighbours: x is {}, but the spans hold {} rows",
          x.shape(), spans.rows());
  require(width > 0, "neighbours: width is {}, expected at least 1", width);
  Var y = cx.make({x.rows(), width * x.cols()}, x.dtype(), {x});
  cx.backend.neighbours(y, x, spans);
  cx.record("neighbours", y, [=](Backward& b) {
    if (const Grad dx = b.grad(x)) b.backend.neighbours_backward(dx, b.grad_out(), spans);
  });
  return y;
}

Var pool(Context& cx, const Var& stored, const Spans& spans, Pool kind) {
  const Var x = widened(cx, stored);
  require(x.shape().rank() == 2 && x.rows() == spans.rows(), "pool: x is {}, but the spans hold {} rows", x.shape(),
          spans.rows());
  Var y = cx.make({spans.sentences(), x.cols()}, x.dtype(), {x});
  cx.backend.pool(y, x, spans, kind == Pool::mean);
  cx.record("pool", y, [=](Backward& b) {
    if (const Grad dx = b.grad(x)) b.backend.pool_backward(dx, b.grad_out(), spans, kind == Pool::mean);
  });
  return y;
}

}  // namespace dragoman
