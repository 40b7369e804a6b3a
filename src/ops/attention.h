#pragma once
#include "autodiff/context.h"
#include "backend/attention_shape.h"
#include "backend/step_keys.h"

namespace dragoman {

/// What a score may have beyond query and key, each empty where it has not.
struct ScoreInputs {
  Var bias;    // (Nq or 1, H·(2R+1)): see DistanceBias; one row is a constant
  Var vector;  // (H*K), Score::additive
};

/// Attention over packed rows (Vaswani et al. 2017, section 3.2): sentence by sentence and head by head,
/// y = softmax(score(q, k)) · v.  q (Nq,H*K)  k (Nk,H*K)  v (Nk,H*V)  →  (Nq,H*V).
/// No (Nq,Nk) matrix exists: backward recomputes the weights from one number a query and head.
/// `name` is what a watch of the context is told, which hears of those only that have one.
Var attention(Context& cx, const Var& q, const Var& k, const Var& v, const AttentionShape& shape,
              const ScoreInputs& score = {}, const std::string& name = "");

/// What one query a row needs to know of the keys it meets.
struct StepShape {
  StepKeys keys;
  int64_t longest = 0;  // bounds keys.length
  int heads = 1, window = -1;
  Score score = Score::scaled_dot;
};

/// One query a row against the cached keys that `shape` names, for decoding: not recorded.
/// q (R,H*K)  k (C,H*K)  v (C,H*V)  →  (R,H*V).
Var attention_step(Context& cx, const Var& q, const Tensor& k, const Tensor& v, const StepShape& shape,
                   const ScoreInputs& score = {});

/// Shaw et al. 2018, equation 5: each query with a vector for every distance, q_h · aᵀ, as a bias of attention's.
/// q (N,H*K)  table (2R+1,K)  →  (N,H·(2R+1)).
Var distance_scores(Context& cx, const Var& q, const Var& table, int heads);

/// Rotary positions (Su et al. 2021): pairs of columns of each head turn by an angle of their token. `table` (P,K)
/// holds sines in its first half and cosines in its second (nn/positions.h).  x (N,H*K), K even, places (N,2)  →
/// (N,H*K).
Var rotate(Context& cx, const Var& x, const Tensor& table, const Tensor& positions, int heads);

}  // namespace dragoman
