#include "nn/encoders/encoder.h"
#include "ops/dropout.h"

namespace dragoman {
namespace {

// A layer reads in one direction (Sutskever et al. 2014, section 2): h_n = cell(x_n, h_n-1); with `reverse` it begins
// with the last token before </s> (section 3.3).
class UnidirectionalEncoder : public Encoder {
 public:
  UnidirectionalEncoder(Parameters& p, const RecurrentEncoderDesign& d)
      : direction_(d.reverse ? Direction::reversed : Direction::forward), dropout_(d.dropout) {
    for (const std::string& name : d.layers)
      layers_.push_back(
          Recurrence::make(p, name + ".forward", {d.cell, layers_.empty() ? d.inputs : d.dim, d.dim, d.norm}));
  }

  EncoderStates operator()(Context& cx, Var x, const Spans& spans, const Tensor& positions) const override {
    const Steps steps(spans, direction_);
    Var h;
    for (const Recurrence& layer : layers_) {
      if (h) x = dropout(cx, h, cx.dropout(dropout_, positions));
      h = layer(cx, x, steps);
    }
    return {h, h, Var()};
  }

 private:
  std::vector<Recurrence> layers_;
  const Direction direction_;
  const double dropout_;
};

}  // namespace

std::shared_ptr<const Encoder> make_unidirectional_encoder(Parameters& p, const RecurrentEncoderDesign& d) {
  return std::make_shared<UnidirectionalEncoder>(p, d);
}

}  // namespace dragoman
