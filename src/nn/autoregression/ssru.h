#pragma once
#include <optional>

#include "nn/self_attention.h"

namespace dragoman {

/// The simpler simple recurrent unit (Kim et al. 2019, "From Research to Production and Back", section 3.1): with f_t =
/// σ(W_f x_t + b_f) and c_t = f_t ⊙ c_{t-1} + (1 - f_t) ⊙ (W x_t + b), the result is relu(c_t). With norms, as Marian
/// has them, W x_t and W_f x_t are normalised, and the biases are those of the norms.
struct Ssru {
  Linear product;                                    // (2D,D): W over W_f
  std::optional<Norm> state_norm, forget_gate_norm;  // both or none

  static Ssru make(Parameters& p, const std::string& name, int64_t dim, double gain, bool norms);
  Var operator()(Context& cx, const Var& x, const SelfRows& rows) const;
  /// One decoding step: x (R,D). Writes the c of this step to the cache (C,D).
  Var step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const;
  int64_t cache_columns() const { return product.weight.cols(); }  // D

 private:
  struct Products {
    Var state, forget;  // (N,D) each
  };
  Products products(Context& cx, const Var& x) const;
};

}  // namespace dragoman
