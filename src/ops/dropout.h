#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// Throws if `drop` is active but does not hold a position for each of an op's rows.
void check_positions(const char* op, const Dropout& drop, int64_t rows);

/// y = x + dropout(r), all (N,D). With an inactive `drop`, y = x + r.
Var residual(Context& cx, const Var& x, const Var& r, const Dropout& drop);

/// y = dropout(x). With an inactive `drop`, returns x itself.
Var dropout(Context& cx, const Var& x, const Dropout& drop);

}  // namespace dragoman
