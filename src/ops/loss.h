#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// Per label: the label-smoothed cross-entropy that training minimises, times the label's weight, and log p(label).
struct TokenLoss {
  Tensor loss, log_prob;  // (N) stat type
};

/// What labels are where they may be copied as well as generated (backend/copying.h).
struct Copying {
  Var gate;    // (N,1): generated with probability σ(gate)
  Var copied;  // (N,1): probability of the label among what is copied
};

/// Labels of the rows of a matrix.
struct Targets {
  Tensor ids;            // (N) int32
  double smoothing = 0;  // Szegedy et al. 2016, section 7
  Tensor weights = {};   // (N) f32, of losses and gradients; empty: all 1
  Copying copying = {};  // or empty: all are generated
};

/// Linear layer and label-smoothed cross-entropy in one (Szegedy et al. 2016, section 7): x (N,D)  w (V,D)
/// The (N,V) logits never exist. This is the root of the gradient: under a tape the gradients of the SUM of losses with
/// respect to x, w, gate and copied are written here, while a chunk of logits is in the cache; w's is marked as
/// written, so that a tied embedding adds to it. The smoothed part is of the softmax, also where labels are copied.
TokenLoss linear_cross_entropy(Context& cx, const Var& x, const Var& w, const Targets& targets);

/// The same for labels that are generated.  labels (N) int32
TokenLoss linear_cross_entropy(Context& cx, const Var& x, const Var& w, const Tensor& targets, double label_smoothing,
                               const Tensor& weights = {});

}  // namespace dragoman
