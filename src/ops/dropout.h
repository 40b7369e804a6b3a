#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// Throws unless `drop`, where it is active, has a place for each of an op's rows.
void check_positions(const char* op, const Dropout& drop, int64_t rows);

/// y = x + dropout(r), all (N,D). An inactive `drop` adds.
Var residual(Context& cx, const Var& x, const Var& r, const Dropout& drop);

/// y = dropout(x). An inactive `drop` gives x itself.
Var dropout(Context& cx, const Var& x, const Dropout& drop);

}  // namespace dragoman
