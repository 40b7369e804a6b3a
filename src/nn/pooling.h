#pragma once
#include "nn/layers.h"
#include "tensor/spans.h"

namespace dragoman {

/// One vector of many by attention to a learned query (1,D): Σ_i softmax_i(query · k_i) v_i over the rows of each span.
/// k, v (N,D)  →  (B,D).
Var pool_by_query(Context& cx, const Var& query, const Var& k, const Var& v, const Spans& spans);

/// The same with a layer before it: k_i = tanh(W x_i + b), v_i = x_i (Yang et al. 2016, equations 5 to 7).
struct AttentionPooling {
  Linear projection;  // (D,D)
  Var query;          // (1,D)

  static AttentionPooling make(Parameters& p, const std::string& name, int64_t dim);
  Var operator()(Context& cx, const Var& x, const Spans& spans) const;  // (N,D) → (B,D)
};

}  // namespace dragoman
