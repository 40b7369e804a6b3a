#pragma once
#include "backend/kernel.h"
#include "tensor/spans.h"

namespace dragoman {

/// Slots of the kernel table (backend/backend.h): rows by index, pooling, mixtures of experts, the best of each row.
struct RowKernels {
  // Each row with its neighbours: row n of y (N,W·D) holds rows n - (W-1)/2 … n + W/2 of x (N,D), zeros for rows
  // outside its sentence.
  Kernel<void(const Tensor& y, const Tensor& x, const Spans& spans)> neighbours{"neighbours"};
  Kernel<void(Grad dx, const Tensor& dy, const Spans& spans)> neighbours_backward{"neighbours_backward"};

  // Rows by index (int32).  gather: y[i] = x[rows[i]].  scatter: y[rows[i]] = x[i].  x and y also in 16 bits.
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& rows)> gather_rows{"gather_rows"};
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& rows)> scatter_rows{"scatter_rows"};

  // y[n] = Σ_j weights(n,j) · x[rows(n,j)], without weights the plain sum; a row of -1 adds nothing.
  // y (N,D)  x (M,D)  rows (N,k) int32  weights (N,k) or empty
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& rows, const Tensor& weights)> mix_rows{"mix_rows"};
  //   Backward, where `rows` names each row of x once.
  Kernel<void(Grad dx, Grad dweights, const Tensor& dy, const Tensor& x, const Tensor& rows, const Tensor& weights)>
      mix_rows_backward{"mix_rows_backward"};

  // The sum or the mean of each sentence's rows.  y, dy (B,D)  x (N,D)
  Kernel<void(const Tensor& y, const Tensor& x, const Spans& spans, bool mean)> pool{"pool"};
  Kernel<void(Grad dx, const Tensor& dy, const Spans& spans, bool mean)> pool_backward{"pool_backward"};

  // The k experts of the largest logits, the lower number on ties, and their gates: the softmax over these k logits or,
  // for k = 1, over all logits.  gates (N,k)  logits (N,E).  experts (N,k) int32 is in host memory on every backend,
  // and complete when the kernel returns.
  Kernel<void(const Tensor& gates, const Tensor& experts, const Tensor& logits)> route{"route"};
  //   Backward from dgates, and from a loss of Σ_n Σ_e load(e) · softmax(logits)(n,e), load (E) f32 or empty.
  Kernel<void(Grad dlogits, const Tensor& dgates, const Tensor& logits, const Tensor& experts, const Tensor& load)>
      route_backward{"route_backward"};

  // The k best of each row of logits (R,V), best first, the lower id on ties, and log Σ exp of the row if lse is given.
  // values (R,k)  ids (R,k) int32  lse (R) stat type or empty: then a NaN in the row makes the first value NaN.
  Kernel<void(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits)> top_k{"top_k"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.neighbours, k.neighbours_backward, k.gather_rows, k.scatter_rows, k.mix_rows, k.mix_rows_backward, k.pool,
          k.pool_backward, k.route, k.route_backward, k.top_k);
  }
};

}  // namespace dragoman
