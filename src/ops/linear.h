#pragma once
#include "autodiff/context.h"
#include "tensor/activation.h"

namespace dragoman {

/// y (N,D) = act(x (N,K) · w (D,K)ᵀ + b (D)); b may be empty. The tape keeps x, and y or the sum if act needs it.
/// If the context has a 16-bit copy of w, operands x, w and dy are rounded to its type and sums are f32. If
/// RoundedWeights::activations is set, y has that type too. Without a tape and with packed weights in the context, a
/// row's result depends only on that row.
Var linear(Context& cx, const Var& x, const Var& w, const Var& b, Activation act = Activation::none);

/// A low-rank update of a weight w: w + up · down (LoRA: Hu et al. 2022, section 4.1, without the factor alpha / R).
struct LowRankUpdate {
  Var down, up;  // (R,K) (D,R), or empty

  explicit operator bool() const { return bool(down); }
};

/// y = act(x · (w + up · down)ᵀ + b) as act(x · wᵀ + b + (x · downᵀ) · upᵀ), with the types of linear() above. The tape
/// keeps x, x · downᵀ (N,R), and y or the sum if act needs it.
Var linear(Context& cx, const Var& x, const Var& w, const Var& b, const LowRankUpdate& update, Activation act);

/// The first linear() without act, but y has the type of w even if activations have 16 bits: for logits.
Var wide_linear(Context& cx, const Var& x, const Var& w, const Var& b);

/// Some rows of a weight, packed or in 16 bits if the weight is so in this context.
struct WeightRows {
  Tensor weight;
  int64_t rows = 0;
  bool packed = false;
};
WeightRows select_rows(Context& cx, const Var& w, const Tensor& rows);  // rows (R) int32, in ascending order

/// y (N,R) = x (N,K) · w (R,K)ᵀ + b (R), without a tape: the columns that wide_linear() computes for these rows, bit
/// for bit if the weight is packed. b may be empty.
Var linear(Context& cx, const Var& x, const WeightRows& w, const Tensor& b = {});

/// y = act(x), elementwise.
Var activation(Context& cx, const Var& x, Activation act);

/// y (N,D) = act(a) ⊙ b of x (N,2·D) = [a b], as in gated linear units (Shazeer 2020, "GLU Variants Improve
/// Transformer", equation 5). Rounds y to the type of x. The tape keeps x.
Var gated(Context& cx, const Var& x, Activation act);

/// x itself, or a copy in f32 if x has 16 bits, for ops that do not support 16 bits.
Var widened(Context& cx, const Var& x);

}  // namespace dragoman
