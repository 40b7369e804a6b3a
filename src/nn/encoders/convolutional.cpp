#include "nn/encoders/convolution.h"
#include "nn/encoders/encoder.h"

namespace dragoman {
namespace {

// Gated convolutions (Gehring et al. 2017, section 3.2), after a projection of the embeddings.
class ConvolutionalEncoder : public Encoder {
 public:
  ConvolutionalEncoder(Parameters& p, const ConvolutionalEncoderDesign& d)
      : input_(Linear::make(p, {"encoder.input"}, {d.dim}, d.inputs)), dropout_(d.dropout) {
    for (int l = 0; l < d.layers; ++l)
      layers_.push_back(GatedConvolution::make(p, fmt::format("encoder.{}", l), d.dim, d.width));
  }

  EncoderStates operator()(Context& cx, Var x, const Spans& spans, const Tensor& positions) const override {
    x = input_(cx, x);
    for (const GatedConvolution& layer : layers_) x = layer(cx, x, spans, cx.dropout(dropout_, positions));
    return {x, x, Var()};
  }

 private:
  const Linear input_;  // (D,E)
  std::vector<GatedConvolution> layers_;
  const double dropout_;
};

}  // namespace

std::shared_ptr<const Encoder> make_convolutional_encoder(Parameters& p, const ConvolutionalEncoderDesign& d) {
  return std::make_shared<ConvolutionalEncoder>(p, d);
}

}  // namespace dragoman
