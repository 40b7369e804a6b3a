#pragma once
#include "nn/layers.h"
#include "tensor/spans.h"

namespace dragoman {

/// A layer of a gated convolutional encoder (Gehring et al. 2017, "Convolutional Sequence to Sequence Learning",
/// sections 3.2 and 3.3; gates of Dauphin et al. 2017): norm(x + dropout(a ⊙ σ(g))), where a and g are products of a
/// row and its neighbours. The norm replaces the paper's factor √½.
struct GatedConvolution {
  Linear product;  // (2D,W·D): a over g
  Norm norm;
  int width;  // W

  static GatedConvolution make(Parameters& p, const std::string& name, int64_t dim, int width);
  /// x (N,D) → (N,D); `drop` applies to the gated product.
  Var operator()(Context& cx, const Var& x, const Spans& spans, const Dropout& drop) const;
};

}  // namespace dragoman
