#pragma once
#include "autodiff/context.h"
#include "tensor/spans.h"

namespace dragoman {

/// What attention needs for a window around a place that is a number (Luong et al. 2015, section 3.2, "local-p"), where
/// each sentence has one query. y = Σ_j p_j · g_j · v_j, with p the softmax over the keys in the window: g_j depends on
/// no other key, so that it may as well multiply v_j.
struct GaussianWindow {
  Var values;      // (N,D): g_j · v_j
  Tensor factors;  // (N): g_j
  Tensor bias;     // (B,2R+1), for attention: no weight where the window does not reach
};

/// g_j = exp(-(j - c)² / (2 σ²)) with σ = window / 2 of the row at place j of a sentence whose center is c, and 0 where
/// |j - c| > window. Not normalised, as in the paper's equation 10.
/// v (N,D)  centers (B,1), each from 0 to the sentence's length. The tape keeps v and the factors.
GaussianWindow gaussian_window(Context& cx, const Var& v, const Var& centers, const Spans& spans, int window);

}  // namespace dragoman
