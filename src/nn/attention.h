#pragma once
#include <optional>

#include "backend/step_keys.h"
#include "nn/attention_design.h"
#include "nn/attention_memory.h"
#include "nn/cache.h"
#include "nn/layers.h"
#include "ops/attention.h"
#include "ops/norm.h"

namespace dragoman {

/// Rows that attend to rows of their own sequence, and what is known of their positions.
struct SelfRows {
  Spans spans;
  Tensor positions;                // (N,2) int32: sentence, token
  Tensor rotary;                   // (P,K) sinusoids, or empty: queries and keys are rotated by their position
  Tensor bias;                     // (1,H·(2R+1)) or empty: added to the scores (ALiBi)
  Tensor cache = {}, cached = {};  // (C,H*K + H*V), (N) int32: which of its rows take keys and values; or empty
};

/// Rows of a decoding step, one token each.
struct StepRows {
  Tensor positions;  // (R,2)
  Tensor rotary;     // as above
  Tensor bias;
  Tensor cached;  // (R) int32: cache rows that take this step's keys and values
  StepKeys past;  // where they and their past are found
  int64_t longest_past = 0;
};

/// Where a query, key or value comes from: columns of a product from `first` on, or the vector itself.
struct Role {
  int64_t first = -1, count = 0;
  bool projected() const { return first >= 0; }
  Var of(const Var& product, const Var& x) const { return projected() ? columns(product, first, count) : x; }
};

/// What self- and cross-attention share: learned parts of the score, and the projection of the result.
struct AttentionHeads {
  std::string name;
  AttentionDesign design;
  Linear output;                        // or empty
  Norm query_norm = {}, key_norm = {};  // (K) for all heads, or empty
  Var score_vector = {};                // (H*K), additive
  Var distances = {};                   // (2R+1,K), relative positions
  Var locations = {};                   // (P,H*K), location

  static AttentionHeads make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& design);
  Var result(Context& cx, const Var& y) const { return output.weight ? output(cx, y) : y; }
  Var normed(Context& cx, const Norm& norm, const Var& x) const {
    return norm.weight ? head_norm(cx, x, norm.weight, norm.bias, design.sizes.heads) : x;
  }
  /// Keys for `location`: a row for each position.
  Var keys_at_positions(Context& cx, const Tensor& positions) const;
  ScoreInputs score_inputs(Context& cx, const Var& q, const Tensor& bias) const;
  StepShape step_shape(const StepKeys& keys, int64_t longest) const;
};

/// Multi-head attention of a sequence to itself (Vaswani et al. 2017, section 3.2.2). What is projected comes out of
/// one product.
struct SelfAttention {
  Linear product;
  Role query, key, value;
  AttentionHeads heads;
  std::optional<Compression> compression = {};

  static SelfAttention make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& design);
  Var operator()(Context& cx, const Var& x, const SelfRows& rows, bool causal) const;
  /// One decoding step: x (R,D); keys and values of this step join the cache (C,H*K + H*V).
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const;

 private:
  struct QueryKeyValue {
    Var q, k, v;
  };
  QueryKeyValue parts(Context& cx, const Var& x, const Tensor& positions, const Tensor& rotary) const;
  Compression::Result compressed(Context& cx, const QueryKeyValue& p, const SelfRows& rows) const;
};

/// S·σ(v·tanh(W h)): a position in a source of S tokens, from 0 to S (Luong et al. 2015, equation 9).
struct PredictedPosition {
  Var inner, outer;  // W (D,D), v (1,D); or empty

  static PredictedPosition make(Parameters& p, const std::string& name, int64_t dim);
  /// h (B,D), one a sentence of `source`  →  (B,1).
  Var operator()(Context& cx, const Var& h, const Spans& source) const;
};

/// Attention of target rows to the encoder's output.
struct CrossAttention {
  Linear query_product, key_value_product;
  Role query, key, value;
  AttentionHeads heads;
  PredictedPosition center;  // of LocalCenter::predictive

  static CrossAttention make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& design);
  struct KeysAndValues {
    Var k, v;  // (Ns,H*K) (Ns,H*V)
  };
  /// Keys and values of the encoder's output (Ns,D), whose rows are at `positions`.
  KeysAndValues keys_and_values(Context& cx, const Var& memory, const Tensor& positions) const;
  bool hard() const { return heads.design.choice == AttentionKind::hard; }
  /// Whether each query has to be a sentence of its own, with its own keys.
  bool one_query_each() const { return bool(center.inner); }
  /// x (Nt,D); queries are rows of their sentences from position `first` on.
  Var operator()(Context& cx, const Var& x, const KeysAndValues& memory, const Spans& queries, const Spans& keys,
                 const Tensor& positions, int64_t first = 0) const;
  /// What one query a sentence, x (B,D) at `positions`, finds if it looks at one key (ops/hard_attention.h).
  Var choose(Context& cx, const Var& x, const KeysAndValues& memory, const Spans& keys, const Tensor& positions,
             const Tensor& signal) const;
  /// One decoding step against keys and values that were cached once a sentence; neither hard nor one_query_each().
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepKeys& keys, int64_t longest) const;

 private:
  Var queries(Context& cx, const Var& x) const;
  Var around_center(Context& cx, const Var& q, const Var& center, const KeysAndValues& memory,
                    AttentionShape shape) const;
};

/// Puts keys and values into rows of a cache (C,H*K + H*V).
void cache_rows(Context& cx, const Tensor& cache, const Tensor& rows, const Var& k, const Var& v);

}  // namespace dragoman
