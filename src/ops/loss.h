#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// Per label: the label-smoothed cross-entropy that training minimises, times the label's weight, and log p(label).
struct LabelLoss {
  Tensor loss, log_prob;  // (N) stat type
};

/// Linear layer and label-smoothed cross-entropy in one (Szegedy et al. 2016, section 7): x (N,D)  w (V,D)
/// labels (N) int32. The (N,V) logits never exist. This is the root of the gradient: under a tape the gradients of the
/// SUM of losses with respect to x and w are written here, while a chunk of logits is in the cache; w's is marked as
/// written, so that a tied embedding adds to it. weights (N) f32 multiply losses and gradients; empty: all 1.
LabelLoss linear_cross_entropy(Context& cx, const Var& x, const Var& w, const Tensor& labels, double label_smoothing,
                               const Tensor& weights = {});

}  // namespace dragoman
