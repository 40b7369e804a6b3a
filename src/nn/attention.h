#pragma once
#include "nn/cache.h"
#include "nn/layers.h"

namespace dragoman {

/// Columns of one head.
struct HeadSizes {
  int heads, key, value;
};

/// Multi-head attention of a sequence to itself (Vaswani et al. 2017, section 3.2.2). Queries, keys and values come
/// out of one product.
struct SelfAttention {
  Linear query_key_value, output;
  HeadSizes sizes;
  double dropout = 0;  // of the attention weights

  static SelfAttention make(Parameters& p, const std::string& name, int64_t dim, HeadSizes sizes, double gain);
  Var operator()(Context& cx, const Var& x, const Spans& spans, const Visibility& visible, const Tensor& places) const;
  /// One decoding step: x (R,D); keys and values of this step join the cache at `rows` (R), where `keys` finds them.
  Var step(Context& cx, const Var& x, const Tensor& cache, const Tensor& rows, const StepKeys& keys,
           int64_t longest) const;
};

/// Attention of target rows to the encoder's output.
struct CrossAttention {
  Linear query, key_value, output;
  HeadSizes sizes;
  double dropout = 0;

  static CrossAttention make(Parameters& p, const std::string& name, int64_t dim, HeadSizes sizes, double gain);
  Var operator()(Context& cx, const Var& x, const Var& memory, const Spans& queries, const Spans& keys,
                 const Tensor& places) const;
  /// One decoding step against keys and values that were cached once a sentence.
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepKeys& keys, int64_t longest) const;
};

}  // namespace dragoman
