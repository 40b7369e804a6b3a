#pragma once
#include <variant>

#include "nn/layers.h"

namespace dragoman {

/// A sparsely gated mixture of experts (Shazeer et al. 2017, "Outrageously Large Neural Networks"): y = Σ g_e(x) ·
/// expert_e(x) over the k experts that the router prefers for a row (ops/experts.h). The cost of a row is that of k
/// experts, whatever their number. In training an expert takes at most capacity · k · N / E of N rows; for rows over
/// its capacity its output is zero, and only the residual remains (Lepikhin et al. 2021, "GShard", section 2.2).
/// Outside training there is no limit, so that the result of a row depends on that row alone.
struct MixtureOfExperts {
  Var router;  // (E,D)
  std::vector<FeedForward> experts;
  int top_k;         // experts of a row
  double load_loss;  // weight of the loss that balances the load; 0: none
  double capacity;   // relative to an even share; 0: no limit

  /// `weights` (N) f32: of each row in the loss; empty: all 1.
  Var operator()(Context& cx, const Var& x, const Tensor& positions, const Tensor& weights = {}) const;
};

/// The feed-forward part of a Transformer layer: one network for all rows, or a mixture of experts.
struct FeedForwardLayer {
  std::variant<FeedForward, MixtureOfExperts> kind;

  Var operator()(Context& cx, const Var& x, const Tensor& positions, const Tensor& weights = {}) const {
    if (const auto* experts = std::get_if<MixtureOfExperts>(&kind)) return (*experts)(cx, x, positions, weights);
    return std::get<FeedForward>(kind)(cx, x, positions);
  }
};

}  // namespace dragoman
