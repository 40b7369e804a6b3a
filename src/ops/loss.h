#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// Per target token: the label-smoothed cross-entropy times the token's weight, which training minimises, and log p.
struct TokenLoss {
  Tensor loss, log_prob;  // (N) stat type
  Tensor of_links =
      {};  // (N,1) of the links that attention learns (ops/guided_alignment.h), apart from `loss`; or empty
};

/// Inputs for target tokens that may be copied as well as generated (backend/copying.h).
struct Copying {
  Var gate;    // (N,1): generated with probability σ(gate)
  Var copied;  // (N,1): probability of the target among the copied tokens
};

/// Target tokens of the rows of a matrix.
struct Targets {
  Tensor ids;            // (N) int32
  double smoothing = 0;  // Szegedy et al. 2016, section 7
  Tensor weights = {};   // (N) f32, factors of losses and gradients; empty: all 1
  Copying copying = {};  // empty: all targets are generated
};

/// The output layer, which computes logits.
struct OutputWeights {
  Var weight;     // (V,D)
  Var bias = {};  // (V) or empty
};

/// Linear layer and label-smoothed cross-entropy in one (Szegedy et al. 2016, section 7).  x (N,D)
/// The (N,V) logits never exist. This is the root of the backward pass: under a tape, this call itself writes the
/// gradients of the SUM of losses with respect to x, the weights, gate and copied, while a chunk of logits is in the
/// cache. It marks the weight's gradient as written, so that a tied embedding adds to it. Smoothing applies to the
/// softmax only.
TokenLoss linear_cross_entropy(Context& cx, const Var& x, const OutputWeights& output, const Targets& targets);

/// The same without a bias and without copying.  w (V,D)  targets (N) int32
TokenLoss linear_cross_entropy(Context& cx, const Var& x, const Var& w, const Tensor& targets, double label_smoothing,
                               const Tensor& weights = {});

}  // namespace dragoman
