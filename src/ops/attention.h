#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// Scaled dot-product attention over packed rows (Vaswani et al. 2017, section 3.2): sentence by sentence and head by
/// head, y = softmax(q · kᵀ / √K) · v.  q (Nq,H*K)  k (Nk,H*K)  v (Nk,H*V)  →  (Nq,H*V).
/// No (Nq,Nk) matrix exists: backward recomputes the weights from one number a query and head.
Var attention(Context& cx, const Var& q, const Var& k, const Var& v, const AttentionShape& shape);

/// One query a row against the cached keys that `keys` names, for decoding: not recorded.
/// q (R,H*K)  k (C,H*K)  v (C,H*V)  →  (R,H*V); `longest` bounds keys.length.
Var attention_step(Context& cx, const Var& q, const Tensor& k, const Tensor& v, const StepKeys& keys, int heads,
                   int64_t longest);

}  // namespace dragoman
