#pragma once
#include "backend/step_keys.h"
#include "nn/attention_design.h"
#include "nn/layers.h"

namespace dragoman {

/// Which rows attend together: each sentence, or its blocks of at most `block` rows.
Spans blocks_of(const Spans& spans, int block);
/// Of each sentence one row for every `stride`, begun ones included.
Spans strides_of(const Spans& spans, int stride);

/// Where a decoding step's rows find their past, and its longest.
struct Past {
  StepKeys keys;
  int64_t longest = 0;
};
/// What a layer with this memory looks at of it.
Past part_of(const Past& past, const MemoryShape& memory);

/// Memory-compressed attention (Liu et al. 2018, section 4.2.4): one key and one value of each `stride` of them, by a
/// convolution as wide. Key c is of the positions c·s - (s-1) … c·s, zeros before the first, and stands at c·s: it
/// knows no word that comes after a query that sees it.
struct Compression {
  Linear key, value;  // (H*K,s·H*K) (H*V,s·H*V)
  int stride;

  static Compression make(Parameters& p, const std::string& name, int64_t keys, int64_t values, int stride);
  struct Result {
    Var k, v;  // (M,H*K) (M,H*V), M rows of strides_of(spans)
  };
  Result operator()(Context& cx, const Var& k, const Var& v, const Spans& spans) const;
  /// One decoding step: rows that end a window, whose keys and values are all in the cache (C,H*K + H*V), get the one
  /// key and value instead of their own, which nobody will read again.
  void step(Context& cx, const Tensor& cache, const StepKeys& past) const;
};

}  // namespace dragoman
