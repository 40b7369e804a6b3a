#include "nn/encoders/encoder.h"
#include "ops/dropout.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// A layer reads in both directions (Bahdanau et al. 2015, section 3.2): z_n = [h_n; g_n] with h_n = cell(x_n, h_n-1)
// and g_n = cell(x_n, g_n+1).
class BidirectionalEncoder : public Encoder {
 public:
  BidirectionalEncoder(Parameters& p, const RecurrentEncoderDesign& d) : dropout_(d.dropout) {
    for (const std::string& name : d.layers) {
      const Recurrence::Design design{d.cell, layers_.empty() ? d.inputs : d.dim, d.dim / 2, d.norm};
      Layer& layer = layers_.emplace_back();
      layer.forward = Recurrence::make(p, name + ".forward", design);
      layer.backward = Recurrence::make(p, name + ".backward", design);
    }
  }

  EncoderStates operator()(Context& cx, Var x, const Spans& spans, const Tensor& positions) const override {
    const Steps forward(spans, Direction::forward), backward(spans, Direction::backward);
    EncoderStates z;
    for (const Layer& layer : layers_) {
      if (z.all) x = dropout(cx, z.all, cx.dropout(dropout_, positions));
      z.forward = layer.forward(cx, x, forward);
      z.backward = layer.backward(cx, x, backward);
      z.all = join_columns(cx, z.forward, z.backward);
    }
    return z;
  }

 private:
  struct Layer {
    Recurrence forward, backward;  // D/2 columns each
  };
  std::vector<Layer> layers_;
  const double dropout_;
};

}  // namespace

std::shared_ptr<const Encoder> make_bidirectional_encoder(Parameters& p, const RecurrentEncoderDesign& d) {
  return std::make_shared<BidirectionalEncoder>(p, d);
}

}  // namespace dragoman
