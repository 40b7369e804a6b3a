#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// Rows of x by index: y[i] = x[rows[i]].  x (N,D)  rows (M) int32, no row twice  →  (M,D).
Var gather_rows(Context& cx, const Var& x, const Tensor& rows);

}  // namespace dragoman
