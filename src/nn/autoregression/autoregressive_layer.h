#pragma once
#include <variant>

#include "nn/autoregression/average_attention.h"
#include "nn/autoregression/ssru.h"
#include "nn/self_attention.h"

namespace dragoman {

/// How a decoder layer reads the tokens before it; each kind is a file. Self-attention reads the whole past in every
/// step; the others read one row that summarises it. All caches have a row for each token, so hypotheses share the past
/// alike.
struct AutoregressiveLayer {
  std::variant<SelfAttention, AverageAttention, Ssru> kind;

  /// All rows of sentences at once; a row sees itself and the rows before it.
  Var operator()(Context& cx, const Var& x, const SelfRows& rows) const {
    const auto run = [&]<class K>(const K& k) {
      if constexpr (std::is_same_v<K, SelfAttention>)
        return k(cx, x, rows, true);
      else
        return k(cx, x, rows);
    };
    return std::visit(run, kind);
  }
  /// One decoding step: x (R,D). Writes what later steps read to the cache.
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const {
    return std::visit([&](const auto& k) { return k.step(cx, x, cache, rows); }, kind);
  }
  int64_t cache_columns() const {
    return std::visit([](const auto& k) { return k.cache_columns(); }, kind);
  }
  /// Summaries of the past stay in f32: they are summed up over all steps.
  DType cache_type(const Context& cx, DType dtype) const {
    const auto* attention = std::get_if<SelfAttention>(&kind);
    return attention ? attention->cache_type(cx, dtype) : dtype;
  }
};

}  // namespace dragoman
