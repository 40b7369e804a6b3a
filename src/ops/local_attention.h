#pragma once
#include "autodiff/context.h"
#include "tensor/spans.h"

namespace dragoman {

/// Inputs of attention in a window around a real-valued position (Luong et al. 2015, section 3.2, "local-p"), with one
/// query per sentence. y = Σ_j p_j · g_j · v_j, where p is the softmax over the keys in the window. g_j depends on no
/// other key, so it is multiplied into v_j.
struct GaussianWindow {
  Var values;      // (N,D): g_j · v_j
  Tensor factors;  // (N): g_j
  Tensor bias;     // (B,2R+1), for attention: excludes keys outside the window
};

/// g_j = exp(-(j - c)² / (2 σ²)) with σ = window / 2, for the row at position j of a sentence with center c, and 0
/// where |j - c| > window. Not normalised, as in the paper's equation 10.
/// v (N,D)  centers (B,1), each from 0 to the sentence's length. The tape keeps v and the factors.
GaussianWindow gaussian_window(Context& cx, const Var& v, const Var& centers, const Spans& spans, int window);

}  // namespace dragoman
