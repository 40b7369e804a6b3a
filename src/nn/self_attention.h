#pragma once
#include "nn/memories/memory.h"

namespace dragoman {

/// The rows of a decoding step, one token each.
struct StepRows {
  Tensor positions;  // (R,2)
  Tensor rotary;     // as in SelfRows
  Var bias;
  Tensor cached;  // (R) int32: cache rows to write this step's keys and values to
  Past past;      // of each row, this step included
};

/// Multi-head attention of a sequence to itself (Vaswani et al. 2017, section 3.2.2). One product computes all
/// projections.
struct SelfAttention {
  Linear product;
  Role query, key, value;
  AttentionHeads heads;
  std::shared_ptr<const KeyMemory> memory = {};  // null: all keys and values

  static SelfAttention make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& design);
  Var operator()(Context& cx, const Var& x, const SelfRows& rows, bool causal) const;
  /// One decoding step: x (R,D). Writes the keys and values of this step to the cache (C,H*K + H*V).
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const;
  int64_t cache_columns() const { return heads.key_columns() + heads.value_columns(); }
  /// The type of its cache: compressing keys (memory) takes no 16 bits.
  DType cache_type(const Context& cx, DType dtype) const { return memory ? dtype : cx.activation_type(dtype); }

 private:
  struct Projected {
    Var q, k, v;
  };
  Projected project(Context& cx, const Var& x, const Tensor& positions, const Tensor& rotary) const;
};

}  // namespace dragoman
