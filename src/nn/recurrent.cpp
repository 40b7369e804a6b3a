#include "nn/recurrent.h"

#include <algorithm>
#include <numeric>

#include "backend/backend.h"
#include "ops/linear.h"
#include "ops/norm.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// The row of a sentence that step t reads.
int64_t row_at(Range sentence, int64_t t, Direction direction) {
  const int64_t last = sentence.end - 1;
  if (direction == Direction::forward) return sentence.begin + t;
  if (direction == Direction::backward) return last - t;
  return sentence.begin + t == last ? last : last - 1 - t;
}

std::vector<std::string> gate_names(Cell cell) {
  if (cell == Cell::gru) return {"reset", "update", "candidate"};
  return {"input", "forget", "candidate", "output"};
}

}  // namespace

Steps::Steps(const Spans& spans, Direction direction) : sentences(spans.sentences()), begins{0} {
  std::iota(sentences.begin(), sentences.end(), 0);
  const auto length = [&](int s) { return spans[s].end - spans[s].begin; };
  std::stable_sort(sentences.begin(), sentences.end(), [&](int a, int b) { return length(a) > length(b); });
  std::vector<int32_t> order, inverse(spans.rows());
  for (int64_t t = 0; t < spans.longest(); ++t) {
    for (size_t i = 0; i < sentences.size() && length(sentences[i]) > t; ++i) {
      order.push_back(int32_t(row_at(spans[sentences[i]], t, direction)));
      inverse[order.back()] = int32_t(order.size()) - 1;
    }
    begins.push_back(int64_t(order.size()));
  }
  rows = int_tensor(std::move(order), {spans.rows()});
  positions = int_tensor(std::move(inverse), {spans.rows()});
}

CellState first_rows(const CellState& state, int64_t n) {
  return {state.h ? rows(state.h, 0, n) : Var(), state.c ? rows(state.c, 0, n) : Var()};
}

Recurrence Recurrence::make(Parameters& p, const std::string& name, const Design& d) {
  const int64_t all = gates_of(d.cell) * d.dim;
  std::vector<Parameters::Slice> input, bias, state;
  for (const std::string& gate : gate_names(d.cell)) {
    const bool open = d.cell == Cell::lstm && gate == "forget";  // initially open: keeps the past (Jozefowicz 2015)
    input.push_back({name + ".input." + gate + ".weight", d.dim, Init::glorot(d.dim, d.inputs)});
    bias.push_back({name + ".input." + gate + ".bias", d.dim, open ? Init::ones() : Init::zeros()});
    state.push_back({name + ".state." + gate + ".weight", d.dim, Init::glorot(d.dim, d.dim)});
  }
  Recurrence r{.cell = d.cell};
  r.input.weight = p.matrix(input, d.inputs);
  r.input.bias = p.vector(bias);
  r.state = p.matrix(state, d.dim);
  if (!d.norm) return r;
  r.input_gain = p.vector({{name + ".input_norm.weight", all, Init::ones()}});
  r.state_gain = p.vector({{name + ".state_norm.weight", all, Init::ones()}});
  return r;
}

Var Recurrence::gates(Context& cx, const Var& x) const {
  if (!input_gain) return input(cx, x);
  return layer_norm(cx, linear(cx, x, input.weight, Var()), input_gain, input.bias);
}

Var Recurrence::state_product(Context& cx, const Var& h) const {
  if (!h) return Var();
  const Var s = linear(cx, h, state, Var());
  if (!state_gain) return s;
  const Var no_shift(cx.save(state_gain.shape(), s.dtype()));  // the norm of the input has one
  cx.backend.fill(no_shift, 0);
  return layer_norm(cx, s, state_gain, no_shift);
}

CellState Recurrence::step(Context& cx, const Var& gates, const CellState& before) const {
  return dragoman::cell(cx, cell, gates, state_product(cx, before.h), before);
}

Var Recurrence::operator()(Context& cx, const Var& x, const Steps& steps) const {
  const Var all = gates(cx, gather_rows(cx, x, steps.rows));
  std::vector<Var> h;
  CellState state;
  for (int64_t t = 0; t < steps.count(); ++t) {
    state = step(cx, rows(all, steps.begins[t], steps.width(t)), first_rows(state, steps.width(t)));
    h.push_back(state.h);
  }
  return gather_rows(cx, stack_rows(cx, h), steps.positions);
}

}  // namespace dragoman
