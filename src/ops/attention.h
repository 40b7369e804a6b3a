#pragma once
#include <span>

#include "autodiff/context.h"
#include "backend/attention_shape.h"
#include "backend/step_keys.h"

namespace dragoman {

/// Optional inputs besides queries, keys and values.
struct ScoreInputs {
  Var bias;    // (Nq or 1, H·(2R+1)): see DistanceBias
  Var vector;  // (H*K), for Score::additive
  // (V,2R+1), or empty: the columns are added to the values of keys by their distance, clipped to ±R (Shaw et al.
  // 2018, equation 3).
  Var distance_values = {};
};

/// Attention over packed rows (Vaswani et al. 2017, section 3.2), for each sentence and head:
/// y = softmax(score(q, k)) · v.  q (Nq,H*K)  k (Nk,H*K)  v (Nk,H*V)  →  (Nq,H*V).
/// No (Nq,Nk) matrix exists: the backward pass recomputes the weights from one number per query and head.
/// The context's observer gets `name`; it is not called for attentions without a name.
Var attention(Context& cx, const Var& q, const Var& k, const Var& v, const AttentionShape& shape,
              const ScoreInputs& score = {}, const std::string& name = "");

/// The cached keys of the rows of a step, each of which holds one query.
struct StepShape {
  StepKeys keys;
  int64_t longest = 0;  // upper bound of keys.length
  int heads = 1, window = -1;
  Score score = Score::scaled_dot;
};

/// The keys and values of a step's own rows, and the cache rows to write them to.
struct NewKeys {
  Var k, v;     // (R,H*K) (R,H*V)
  Tensor rows;  // (R) int32
};

/// Attention of one query per row to the cached keys that `shape` selects, for decoding; before that, `own` is written
/// into the cache. Not recorded. The result has q's type, but with distance_values f32.
/// q (R,H*K)  k (C,H*K)  v (C,H*V)  →  (R,H*V).
Var attention_step(Context& cx, const Var& q, const Tensor& k, const Tensor& v, const StepShape& shape,
                   const ScoreInputs& score = {}, const NewKeys& own = {});

/// Scores of each query with a vector per distance, q_h · tableᵀ (Shaw et al. 2018, equation 5): a bias for attention.
/// q (N,H*K)  table (2R+1,K)  →  (N,H·(2R+1)).
Var distance_scores(Context& cx, const Var& q, const Var& table, int heads);

/// A learned bias for attention that depends on the distance alone (Raffel et al. 2020, section 2.1): element
/// h, distance + R is factor · table(h, buckets(distance + R)).  table (H,B)  buckets (2R+1) from 0  →  (1,H·(2R+1)).
Var bucket_bias(Context& cx, const Var& table, std::span<const int32_t> buckets, double factor);

/// Rotary positions (Su et al. 2021): rotates pairs of columns of each head by an angle that depends on the token's
/// position. `table` (P,K) holds sines in its first half and cosines in its second (nn/positions.h).
/// x (N,H*K), K even, positions (N,2)  →  (N,H*K).
Var rotate(Context& cx, const Var& x, const Tensor& table, const Tensor& positions, int heads);

}  // namespace dragoman
