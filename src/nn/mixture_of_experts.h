#pragma once
#include <variant>

#include "nn/layers.h"

namespace dragoman {

/// A sparsely gated mixture of experts (Shazeer et al. 2017, "Outrageously Large Neural Networks"): y = Σ g_e(x) ·
/// expert_e(x) over the k experts that the router prefers for a row (ops/experts.h). A row costs k experts however many
/// there are. In training an expert takes at most capacity · k · N / E of N rows; what it leaves out counts as zeros,
/// so that the residual alone passes by (Lepikhin et al. 2021, "GShard", section 2.2). Anywhere else it takes all: what
/// becomes of a row then depends on that row alone.
struct MixtureOfExperts {
  Var router;  // (E,D)
  std::vector<FeedForward> experts;
  int top_k;         // experts of a row
  double load_loss;  // weight of the loss that shares out rows evenly; 0: none
  double capacity;   // times an even share; 0: no limit

  Var operator()(Context& cx, const Var& x, const Tensor& slots) const;
};

/// What follows attention in a layer of a Transformer: one feed-forward network for all rows, or some of many.
struct FeedForwardLayer {
  std::variant<FeedForward, MixtureOfExperts> kind;

  Var operator()(Context& cx, const Var& x, const Tensor& slots) const {
    return std::visit([&](const auto& k) { return k(cx, x, slots); }, kind);
  }
};

}  // namespace dragoman
