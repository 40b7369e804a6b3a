#pragma once
#include "ops/attention.h"

namespace dragoman {

/// How a key is chosen, and the learning signal for the choice.
struct HardChoice {
  Dropout random;  // active: a key is drawn, with random numbers keyed by the query's position; else the likeliest key
  Tensor signal;   // (B,2), only under a tape: d cost / d log p(s) and d cost / d H(p), read by the backward pass
};

/// Attention of one query per sentence to a single key: y = v_s, where s is drawn from p = softmax(score(q, k)) (Xu et
/// al. 2015, section 4.1). No gradient goes through the choice: the chosen row of v gets dy, while q, k and the score's
/// vector learn from `signal` through log p(s) and the entropy H(p). One head.
/// q (B,K)  k (N,K)  v (N,V)  →  (B,V).  The tape keeps four numbers per key.
Var hard_attention(Context& cx, const Var& q, const Var& k, const Var& v, const AttentionShape& shape,
                   const ScoreInputs& score, const HardChoice& choice);

}  // namespace dragoman
