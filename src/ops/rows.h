#pragma once
#include "autodiff/context.h"
#include "tensor/spans.h"

namespace dragoman {

/// Rows of x by index: y[i] = x[rows[i]].  x (N,D)  rows (M) int32, no row twice  →  (M,D).
Var gather_rows(Context& cx, const Var& x, const Tensor& rows);

/// Rows of x by index, any number of times: y[i] = x[rows[i]], zeros for a row of -1. `copies` says it the other way
/// round: in which rows of y each row of x is, -1 for none.  x (N,D)  rows (M) int32  copies (N,k) int32  →  (M,D).
Var copy_rows(Context& cx, const Var& x, const Tensor& rows, const Tensor& copies);

/// Rows of x, weighted and added: y[n] = Σ_j weights(n,j) · x[rows(n,j)], where a row of -1 adds nothing. `rows` names
/// each row of x once.  x (M,D)  rows (N,k) int32  weights (N,k)  →  (N,D).  The tape keeps x.
Var mix_rows(Context& cx, const Var& x, const Tensor& rows, const Var& weights);

/// One number of each row: y[n] = x[n,columns[n]].  x (N,D), no view  columns (N) int32  →  (N,1).
Var pick_columns(Context& cx, const Var& x, const Tensor& columns);

/// The rows of all parts (n_i,D), one part after the other  →  (Σ n_i,D).
Var stack_rows(Context& cx, const std::vector<Var>& parts);

/// Columns of a (N,D) and then those of b (N,E)  →  (N,D+E).
Var join_columns(Context& cx, const Var& a, const Var& b);

/// Each row with its neighbours side by side, what a convolution of `width` rows multiplies: row n holds rows n -
/// (W-1)/2 … n + W/2 of its sentence, zeros for those it does not have.  x (N,D)  →  (N,W·D).
Var neighbours(Context& cx, const Var& x, const Spans& spans, int width);

/// What a causal convolution of `width` rows multiplies that makes one row of so many: row c of a sentence holds its
/// rows c·W - (W-1) … c·W side by side, zeros before its first.  x (N,D)  →  (Σ ⌈n/W⌉,W·D).
Var strided_windows(Context& cx, const Var& x, const Spans& spans, int width);

/// One row a sentence: the sum of its rows, or their mean; zeros where a sentence has none.  x (N,D)  →  (B,D).
enum class Pool { sum, mean };
Var pool(Context& cx, const Var& x, const Spans& spans, Pool kind);

}  // namespace dragoman
