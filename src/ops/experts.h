#pragma once
#include "autodiff/context.h"
#include "tensor/spans.h"

namespace dragoman {

/// The experts chosen for each row, best first, and their weights.
struct Routes {
  Var gates;       // (N,k)
  Tensor experts;  // (N,k) int32
};

/// Top-k gating without noise (Shazeer et al. 2017, "Outrageously Large Neural Networks", eq. 3 and 5): the k largest
/// logits of a row select its experts, and a softmax over these k logits gives the gates. For k = 1 the softmax is over
/// all experts, so that the router gets a gradient (Fedus et al. 2021, "Switch Transformers", eq. 2).  logits (N,E).
/// Under a tape, the load loss of Fedus et al. (eq. 4 to 6) is added to the loss of each row: load_loss · E · Σ_e f_e
/// p_ne, where f_e is the fraction of all (row, expert) pairs that go to e, and p_n = softmax(logits_n). With `weights`
/// (N) f32, a row and its part of the fractions have its weight. The load loss only affects gradients; its value is not
/// returned.
Routes route(Context& cx, const Var& logits, int k, double load_loss, const Tensor& weights = {});

/// Which rows go to which expert: the rows of expert e are rows `spans[e]` of the M dispatched rows.
struct Dispatch {
  Spans spans;    // E experts
  Tensor rows;    // (M) int32: the row of N that each is a copy of
  Tensor copies;  // (N,k) int32: the row of M for each row's j-th expert; -1: the expert was full
};

/// Assigns rows in order, all first choices before all second choices, with at most `capacity` rows per expert.
Dispatch dispatch(const Tensor& experts, int count, int64_t capacity);

}  // namespace dragoman
