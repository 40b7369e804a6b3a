#pragma once
#include "ops/linear.h"
#include "ops/loss.h"

namespace dragoman {

/// The last layer in decoding: logits of all pieces or of some.
class OutputLayer {
 public:
  /// The context must outlive the layer.
  OutputLayer(Context& cx, OutputWeights all) : cx_(cx), all_(std::move(all)) {}

  const OutputWeights& weights() const { return all_; }  // of all pieces
  /// Restricts it to these pieces, in ascending order; none: all pieces. Copies their rows of the weight.
  void restrict(std::span<const int32_t> pieces);
  Tensor operator()(Context& cx, const Var& x) const;  // x (R,D) → (R,V) or (R,pieces)
  Tensor weight() const { return some_.rows > 0 ? some_.weight : all_.weight.value(); }  // currently in use
  Tensor bias() const { return some_.rows > 0 ? some_bias_ : all_.bias.value(); }        // or empty

 private:
  Context& cx_;
  const OutputWeights all_;
  WeightRows some_;   // none: all
  Tensor some_bias_;  // (pieces), or empty
};

}  // namespace dragoman
