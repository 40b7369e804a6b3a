#pragma once
#include <variant>

#include "nn/attention.h"

namespace dragoman {

/// Average attention (Zhang et al. 2018, "Accelerating Neural Transformer via an Average Attention Network"): every
/// row of the past counts alike. g_t = ffn(mean(x_1 … x_t)). The result is g_t or, with gates as Marian has them,
/// σ(W_i x_t + b_i) ⊙ x_t + σ(W_f g_t + b_f) ⊙ g_t.
struct AverageAttention {
  FeedForward feed_forward;
  Linear input_gate, forget_gate;  // (D,D) each, or empty

  struct Design {
    int64_t feed_forward;  // its inner columns
    Activation activation;
    bool gated;
    double dropout;  // of the inner columns
    double gain;     // of initial weights
  };
  static AverageAttention make(Parameters& p, const std::string& name, int64_t dim, const Design& design);
  Var operator()(Context& cx, const Var& x, const SelfRows& rows) const;
  /// One decoding step: x (R,D); the means of this step join the cache (C,D).
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const;

 private:
  Var result(Context& cx, const Var& x, const Var& mean, const Tensor& positions) const;
};

/// The simpler simple recurrent unit (Kim et al. 2019, "From Research to Production and Back", section 3.1): with f_t =
/// σ(W_f x_t + b_f) and c_t = f_t ⊙ c_{t-1} + (1 - f_t) ⊙ (W x_t + b), the result is relu(c_t).
struct Ssru {
  Linear product;  // (2D,D): W over W_f

  static Ssru make(Parameters& p, const std::string& name, int64_t dim, double gain);
  Var operator()(Context& cx, const Var& x, const SelfRows& rows) const;
  /// One decoding step: x (R,D); the c of this step join the cache (C,D).
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const;
};

/// How a decoder looks back at its own output. Attention reads all of the past in every step, the others read one row:
/// what they keep of it. Their cache is laid out alike, a row for each token, so hypotheses share a past in the same
/// way.
struct AutoregressiveLayer {
  std::variant<SelfAttention, AverageAttention, Ssru> kind;

  /// All rows of a sentence at once; a row sees those before it and itself.
  Var operator()(Context& cx, const Var& x, const SelfRows& rows) const;
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const;
};

}  // namespace dragoman
