#pragma once
#include "nn/self_attention.h"

namespace dragoman {

/// Average attention (Zhang et al. 2018, "Accelerating Neural Transformer via an Average Attention Network"): all rows
/// of the past have the same weight. g_t = ffn(mean(x_1 … x_t)). The result is g_t or, with gates as in Marian, σ(W_i
/// x_t + b_i) ⊙ x_t + σ(W_f g_t + b_f) ⊙ g_t.
struct AverageAttention {
  FeedForward feed_forward;
  Linear input_gate, forget_gate;  // (D,D) each, or empty

  struct Design {
    int64_t feed_forward;  // inner size
    Activation activation;
    bool gated;
    double dropout;  // of the inner activations
    double gain;     // of initial weights
  };
  static AverageAttention make(Parameters& p, const std::string& name, int64_t dim, const Design& design);
  Var operator()(Context& cx, const Var& x, const SelfRows& rows) const;
  /// One decoding step: x (R,D). Writes the means of this step to the cache (C,D).
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const;
  int64_t cache_columns() const { return feed_forward.down.weight.rows(); }  // D

 private:
  Var result(Context& cx, const Var& x, const Var& mean, const Tensor& positions) const;
};

}  // namespace dragoman
