#pragma once
#include "ops/attention.h"

namespace dragoman {

/// How a choice is made, and what it learns of what came of it.
struct HardChoice {
  Dropout random;  // active: keys are drawn, keyed by the places of the queries; else the likeliest
  Tensor signal;   // (B,2), under a tape only: d cost / d log p(s) and d cost / d H(p), read on the way back
};

/// Each query looks at one key, of one sentence with one query: y = v_s, where s is drawn from p = softmax(score(q, k))
/// (Xu et al. 2015, section 4.1). No gradient goes through the choice: v has dy in the chosen row, and q, k and the
/// score's vector learn from `signal`, by log p(s) and the entropy H(p). One head.
/// q (B,K)  k (N,K)  v (N,V)  →  (B,V).  The tape keeps four numbers a key.
Var hard_attention(Context& cx, const Var& q, const Var& k, const Var& v, const AttentionShape& shape,
                   const ScoreInputs& score, const HardChoice& choice);

}  // namespace dragoman
