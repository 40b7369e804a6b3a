#include "nn/recurrent_decoders/recurrent_decoder.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

// Attention after the step, with input feeding (Luong et al. 2015, equation 5 and section 3.3):
//   h_t = cell([y_t-1; s_t-1], h_t-1)
//   c_t = attention(h_t, z)
//   s_t = tanh(W_h h_t + W_c c_t)
class LuongDecoder : public RecurrentDecoder {
 public:
  LuongDecoder(Parameters& p, const Design& d) : RecurrentDecoder(p, d) {
    attention_ = CrossAttention::make(p, "decoder.0.cross_attention", d.dim, d.attention);
    const int64_t values = attention_.heads.value_columns(), gates = gates_of(d.cell) * d.dim;
    feed_ = p.matrix({{"decoder.0.feed.weight", gates, Init::glorot(gates, d.inputs)}}, d.inputs);
    read_context_ = p.matrix({{"decoder.readout.context.weight", d.inputs, Init::glorot(d.inputs, values)}}, values);
  }

  Output step(Context& cx, const Inputs& y, const State& before, const Attend& attend) const override {
    Output now;
    const Var gates = before.feed ? add_product(cx, y.gates, before.feed, feed_) : y.gates;
    now.state.layers = advance(cx, gates, y, before);
    now.query = now.state.layers.back().h;
    const Var c = attend(now.query);
    Var s = read_state_(cx, now.query);
    s = add_product(cx, s, c, read_context_);
    now.state.feed = activation(cx, s, Activation::tanh);
    now.result = dropped(cx, now.state.feed, y);
    return now;
  }
  const CrossAttention* attention() const override { return &attention_; }
  bool feeds() const override { return true; }

 private:
  CrossAttention attention_;
  Var feed_;          // (G·D,E): s_t-1's part of the first layer's gates
  Var read_context_;  // W_c (E,H*V)
};

}  // namespace

std::unique_ptr<const RecurrentDecoder> make_luong_decoder(Parameters& p, const RecurrentDecoder::Design& d) {
  return std::make_unique<LuongDecoder>(p, d);
}

}  // namespace dragoman
