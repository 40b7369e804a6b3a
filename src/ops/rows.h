#pragma once
#include "autodiff/context.h"
#include "tensor/spans.h"

namespace dragoman {

/// Rows of x by index: y[i] = x[rows[i]].  x (N,D)  rows (M) int32  →  (M,D). Under a tape, no row occurs twice.
Var gather_rows(Context& cx, const Var& x, const Tensor& rows);

/// Rows of x by index, which may repeat: y[i] = x[rows[i]], zeros for index -1. `copies` is the inverse: the rows of y
/// that hold each row of x, -1 for none.
/// x (N,D)  rows (M) int32  copies (N,k) int32  →  (M,D).
Var copy_rows(Context& cx, const Var& x, const Tensor& rows, const Tensor& copies);

/// Weighted sums of rows of x: y[n] = Σ_j weights(n,j) · x[rows(n,j)], where index -1 adds nothing. `rows` holds each
/// row of x once.
/// x (M,D)  rows (N,k) int32  weights (N,k)  →  (N,D).  The tape keeps x.
Var mix_rows(Context& cx, const Var& x, const Tensor& rows, const Var& weights);

/// One element of each row: y[n] = x[n,columns[n]].  x (N,D), contiguous  columns (N) int32  →  (N,1).
Var pick_columns(Context& cx, const Var& x, const Tensor& columns);

/// Concatenates the rows of all parts (n_i,D)  →  (Σ n_i,D).
Var stack_rows(Context& cx, const std::vector<Var>& parts);

/// Concatenates the columns of a (N,D) and b (N,E)  →  (N,D+E).
Var join_columns(Context& cx, const Var& a, const Var& b);

/// Each row side by side with its neighbours, the operand of a convolution of `width` rows: row n holds rows n -
/// (W-1)/2 … n + W/2 of its sentence, with zeros beyond its ends.  x (N,D)  →  (N,W·D).
Var neighbours(Context& cx, const Var& x, const Spans& spans, int width);

/// The operand of a causal convolution that reduces every `width` rows to one: row c of a sentence holds its rows c·W -
/// (W-1) … c·W side by side, with zeros before its first row.  x (N,D)  →  (Σ ⌈n/W⌉,W·D).
Var strided_windows(Context& cx, const Var& x, const Spans& spans, int width);

/// One row per sentence: the sum or mean of its rows; zeros for an empty sentence.  x (N,D)  →  (B,D).
enum class Pool { sum, mean };
Var pool(Context& cx, const Var& x, const Spans& spans, Pool kind);

}  // namespace dragoman
