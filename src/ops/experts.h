#pragma once
#include "autodiff/context.h"
#include "tensor/spans.h"

namespace dragoman {

/// Which experts each row goes to, the best first, and what each of them counts.
struct Routes {
  Var gates;       // (N,k)
  Tensor experts;  // (N,k) int32
};

/// Top-k gating without noise (Shazeer et al. 2017, "Outrageously Large Neural Networks", eq. 3 and 5): the k largest
/// of a row's logits name its experts, the softmax over these k is what they count. For k = 1 it is the softmax over
/// all, which tells the router what it does (Fedus et al. 2021, "Switch Transformers", eq. 2).  logits (N,E). Under a
/// tape the rows' losses get the load loss of the latter (eq. 4 to 6): load_loss · E · Σ_e f_e p_ne, where f_e is the
/// part of all (row, expert) that e has got and p_n = softmax(logits_n). It has a gradient and is no result.
Routes route(Context& cx, const Var& logits, int k, double load_loss);

/// Where the rows of each expert are: those of expert e are rows `spans[e]` of M.
struct Dispatch {
  Spans spans;    // E experts
  Tensor rows;    // (M) int32: which row of N each of them is
  Tensor copies;  // (N,k) int32: where a row is for its j-th expert; -1: the expert was full
};

/// Rows in order, all first choices before all second ones, to at most `capacity` rows an expert.
Dispatch dispatch(const Tensor& experts, int count, int64_t capacity);

}  // namespace dragoman
