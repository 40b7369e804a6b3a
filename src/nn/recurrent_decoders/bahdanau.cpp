#include "nn/recurrent_decoders/recurrent_decoder.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

// Attention before the step (Bahdanau et al. 2015, sections 3.1 and A.2.2):
//   c_t = attention(h_t-1, z)
//   h_t = cell([y_t-1; c_t], h_t-1)
//   s_t = tanh(W_h h_t + W_c c_t + W_y y_t-1)
class BahdanauDecoder : public RecurrentDecoder {
 public:
  BahdanauDecoder(Parameters& p, const Design& d) : RecurrentDecoder(p, d) {
    read_word_ = p.matrix({{"decoder.readout.word.weight", d.inputs, Init::glorot(d.inputs, d.inputs)}}, d.inputs);
    attention_ = CrossAttention::make(p, "decoder.0.cross_attention", d.dim, d.attention);
    const int64_t values = attention_.heads.value_columns(), gates = gates_of(d.cell) * d.dim;
    feed_ = p.matrix({{"decoder.0.feed.weight", gates, Init::glorot(gates, values)}}, values);
    read_context_ = p.matrix({{"decoder.readout.context.weight", d.inputs, Init::glorot(d.inputs, values)}}, values);
  }

  Output step(Context& cx, const Inputs& y, const State& before, const Attend& attend) const override {
    Output now;
    now.query = before.layers[0].h;
    const Var c = attend(now.query);
    now.state.layers = advance(cx, add_product(cx, y.gates, c, feed_), y, before);
    Var s = read_state_(cx, now.state.layers.back().h);
    s = add_product(cx, s, c, read_context_);
    s = add_product(cx, s, y.embedded, read_word_);
    now.result = dropped(cx, activation(cx, s, Activation::tanh), y);
    return now;
  }
  const CrossAttention* attention() const override { return &attention_; }

 private:
  CrossAttention attention_;
  Var feed_;                      // (G·D,H*V): c_t's part of the first layer's gates
  Var read_context_, read_word_;  // W_c (E,H*V), W_y (E,E)
};

}  // namespace

std::unique_ptr<const RecurrentDecoder> make_bahdanau_decoder(Parameters& p, const RecurrentDecoder::Design& d) {
  return std::make_unique<BahdanauDecoder>(p, d);
}

}  // namespace dragoman
