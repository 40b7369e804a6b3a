#pragma once
#include "nn/cross_attention_kinds/cross_attention_kind.h"

namespace dragoman {

/// Attention of target rows to the encoder's output (Bahdanau et al. 2015; Vaswani et al. 2017, section 3.2.3).
struct CrossAttention {
  Linear query_product, key_value_product;
  Role query, key, value;
  AttentionHeads heads;
  std::shared_ptr<const CrossAttentionKind> kind = {};

  static CrossAttention make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& design);
  /// Keys and values of the encoder's output (Ns,D), whose rows are at `positions` (Ns,2).
  KeysAndValues keys_and_values(Context& cx, const Var& encoded, const Spans& spans, const Tensor& positions) const;
  Var operator()(Context& cx, const Queries& queries, const KeysAndValues& seen) const;
  /// One decoding step, x (R,D), against keys and values that were cached (C,H*K + H*V).
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepKeys& keys, int64_t longest) const;
  /// Passes the weights of all queries at once to the context's observer.
  void show(Context& cx, const Queries& queries, const KeysAndValues& seen) const;
  /// The loss of the links of all queries at once (Queries::guide), for a decoder that attends step by step. keys
  /// (Ns,H*K)
  void guide(Context& cx, const Queries& queries, const Var& keys, const Spans& spans) const;
  int64_t cache_columns() const { return heads.key_columns() + heads.value_columns(); }
  DType cache_type(const Context& cx, DType dtype) const { return kind->cache_type(cx, dtype); }

  /// A learning signal (rows,2) for the queries of a batch, for attention that cannot learn by gradients alone
  /// (nn/cross_attention_kinds/hard.cpp); its values are set once the losses are known. Empty for other kinds.
  Tensor learning_signal(Context& cx, int64_t rows, DType dtype) const {
    return kind->learning_signal(cx, rows, dtype);
  }
  void reward(Context& cx, const SignalledLoss& outcome) const { kind->reward(cx, outcome); }

 private:
  Var project(Context& cx, const Var& x) const;
  void guide(Context& cx, const Queries& queries, const Var& q, const Var& k, const Spans& keys) const;
};

}  // namespace dragoman
