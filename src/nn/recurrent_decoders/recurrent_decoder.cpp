#include "nn/recurrent_decoders/recurrent_decoder.h"

#include "ops/dropout.h"
#include "ops/linear.h"

namespace dragoman {

RecurrentDecoder::RecurrentDecoder(Parameters& p, const Design& d) : dropout_(d.dropout) {
  for (int l = 0; l < d.layers; ++l) {
    const std::string name = fmt::format("decoder.{}.", l);
    initial_.push_back(Linear::make(p, {name + "initial"}, {d.dim}, d.dim));
    cells_.push_back(Recurrence::make(p, name + "cell", {d.cell, l == 0 ? d.inputs : d.dim, d.dim, d.norm}));
  }
  read_state_ = Linear::make(p, {"decoder.readout.state"}, {d.inputs}, d.dim);
}

RecurrentDecoder::State RecurrentDecoder::first_state(Context& cx, const Var& summary) const {
  State state;
  for (const Linear& initial : initial_) state.layers.push_back({initial(cx, summary, Activation::tanh), Var()});
  return state;
}

RecurrentDecoder::Inputs RecurrentDecoder::inputs(Context& cx, const Var& embedded, const Tensor& positions) const {
  return {cells_[0].gates(cx, embedded), embedded, positions};
}

std::vector<CellState> RecurrentDecoder::advance(Context& cx, Var gates, const Inputs& inputs,
                                                 const State& before) const {
  std::vector<CellState> now;
  for (size_t l = 0; l < cells_.size(); ++l) {
    if (l > 0) gates = cells_[l].gates(cx, dropped(cx, now[l - 1].h, inputs));
    now.push_back(cells_[l].step(cx, gates, before.layers[l]));
  }
  return now;
}

Var RecurrentDecoder::dropped(Context& cx, const Var& x, const Inputs& inputs) const {
  return dropout(cx, x, cx.dropout(dropout_, inputs.positions));
}

Var add_product(Context& cx, const Var& sum, const Var& x, const Var& weight) {
  return residual(cx, sum, linear(cx, x, weight, Var()), {});
}

}  // namespace dragoman
