#include "nn/recurrent_decoders/recurrent_decoder.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

// No attention: the decoder knows the source only from h_0 (Sutskever et al. 2014, section 2).
//   h_t = cell(y_t-1, h_t-1)
//   s_t = tanh(W_h h_t + W_y y_t-1)
class DecoderWithoutAttention : public RecurrentDecoder {
 public:
  DecoderWithoutAttention(Parameters& p, const Design& d)
      : RecurrentDecoder(p, d),
        read_word_(p.matrix({{"decoder.readout.word.weight", d.inputs, Init::glorot(d.inputs, d.inputs)}}, d.inputs)) {}

  Output step(Context& cx, const Inputs& y, const State& before, const Attend&) const override {
    Output now;
    now.state.layers = advance(cx, y.gates, y, before);
    Var s = read_state_(cx, now.state.layers.back().h);
    s = add_product(cx, s, y.embedded, read_word_);
    now.result = dropped(cx, activation(cx, s, Activation::tanh), y);
    return now;
  }

 private:
  const Var read_word_;  // W_y (E,E)
};

}  // namespace

std::unique_ptr<const RecurrentDecoder> make_decoder_without_attention(Parameters& p,
                                                                       const RecurrentDecoder::Design& d) {
  return std::make_unique<DecoderWithoutAttention>(p, d);
}

}  // namespace dragoman
