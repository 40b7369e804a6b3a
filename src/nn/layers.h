#pragma once
#include "nn/norm_kind.h"
#include "nn/parameters.h"
#include "ops/norm.h"
#include "tensor/activation.h"

namespace dragoman {

/// y = act(x · weightᵀ + bias), with `update` act(x · (weight + up · down)ᵀ + bias).
struct Linear {
  Var weight, bias;  // (D_out,D_in) (D_out)
  LowRankUpdate update = {};

  /// One product for several outputs of the same input: output i has the name names[i] and rows[i] columns.
  static Linear make(Parameters& p, const std::vector<std::string>& names, const std::vector<int64_t>& rows,
                     int64_t inputs, double gain = 1);
  Var operator()(Context& cx, const Var& x, Activation act = Activation::none) const;
};

/// Normalisation of each row, or of each column, with learned gain and shift.
struct Norm {
  Var weight, bias;           // (D) (D); rms: no bias
  RunningStatistics running;  // NormKind::batch only
  double epsilon;

  static Norm make(Parameters& p, const std::string& name, int64_t dim, NormKind kind = NormKind::layer,
                   double epsilon = 1e-5);
  Var operator()(Context& cx, const Var& x) const;
  /// The norm of x + dropout(r).
  Var of_sum(Context& cx, const Var& x, const Var& r, const Dropout& drop) const;
};

/// down(dropout(act(up(x)))): Vaswani et al. 2017, section 3.3. Gated: down(dropout(act(gate(x)) ⊙ up(x))), where `up`
/// is one product for gate and up (Shazeer 2020, section 2).
struct FeedForward {
  Linear up, down;  // (F or 2·F,D) (D,F)
  Activation act;
  double dropout = 0;  // of the inner activations
  bool gated = false;

  Var operator()(Context& cx, const Var& x, const Tensor& positions) const;
};

}  // namespace dragoman
