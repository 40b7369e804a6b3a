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
  //   Backward from dgates, and from a loss of Σ_n weights(n) · Σ_e load(e) · softmax(logits)(n,e), load (E) f32 or
  //   empty, weights (N) f32 or empty: all 1.
  Kernel<void(Grad dlogits, const Tensor& dgates, const Tensor& logits, const Tensor& experts, const Tensor& load,
              const Tensor& weights)>
      route_backward{"route_backward"};

  // The k best of each row of logits (R,V), best first, the lower id on ties, and log Σ exp of the row if lse is given.
  // values (R,k)  ids (R,k) int32  lse (R) stat type or empty: then a NaN in the row makes the first value NaN.
  // If fewer than k logits exceed -inf, the others are -inf, with any ids.
  Kernel<void(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits)> top_k{"top_k"};

  // The rows of a search's next step, chosen before the host sees the results of this one (decode/ensemble.h). Of each
  // sentence, the `compared` best continuations are considered: by log-probability of the whole hypothesis, then by
  // row, then by id. Those that are `end` drop out; the others become its rows, as many as it has. Rows left over at
  // the end of a sentence mean nothing: they continue its first row with `end`.
  struct NextRows {
    Tensor tokens, parents;  // (R) int32 each: the choice; parents count these R rows
    // (at least R), (at least R, at least T) int32, made by the host: the ids of the next step, and the cache rows of
    // each row's past. The choice is written over their first R rows; on a device, only over its copy.
    Tensor ids, table;
    Tensor best, scores, lse;     // (Q,k) int32, (Q,k), (Q) or empty: top_k of this step
    Tensor first;                 // (B+1) int32: where each sentence begins among the R rows
    Tensor step_first, compared;  // (B) int32: where it begins among the Q rows; how many continuations compete
    Tensor log_probs;             // (R) f64: of each row's hypothesis, last token included
    // (R,T) (R) int32: row p's tokens are in cache rows past(p,0) …; those of its continuation r also in past(r,n - 1),
    // the last of n = length(r).
    Tensor past, length;
    Tensor suppressed;  // (F) int32: ids that do not occur
    int32_t end = 0;
  };
  Kernel<void(const NextRows& n)> next_rows{"next_rows"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.neighbours, k.neighbours_backward, k.gather_rows, k.scatter_rows, k.mix_rows, k.mix_rows_backward, k.pool,
          k.pool_backward, k.route, k.route_backward, k.top_k, k.next_rows);
  }
};

}  // namespace dragoman
