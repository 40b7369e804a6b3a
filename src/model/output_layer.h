#pragma once
#include "ops/linear.h"

namespace dragoman {

/// The last layer of a model that decodes: logits of the next piece, of all pieces or of some.
class OutputLayer {
 public:
  /// weight (V,D). The context outlives the layer.
  OutputLayer(Context& cx, Var weight) : cx_(cx), weight_(std::move(weight)) {}

  /// From now on of these pieces, in rising order; of all when there are none. Copies their rows of the weight.
  void restrict(std::span<const int32_t> pieces);
  Tensor operator()(Context& cx, const Var& x) const;                                // x (R,D) → (R,V) or (R,pieces)
  Tensor weight() const { return some_.rows > 0 ? some_.weight : weight_.value(); }  // that it multiplies by now

 private:
  Context& cx_;
  const Var weight_;
  WeightRows some_;  // none: all
};

}  // namespace dragoman
