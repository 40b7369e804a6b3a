#pragma once
#include "autodiff/context.h"
#include "backend/cell.h"
#include "backend/step_keys.h"
#include "tensor/spans.h"

namespace dragoman {

/// The average of a sentence's rows so far, column by column: c_t = a_t ⊙ c_{t-1} + (1 - a_t) ⊙ x_t, where a_t =
/// σ(gate_t) is how much of the past stays. Without a gate every row counts alike: c_t is the mean of x_1 … x_t.
/// x, gate (N,D)  →  (N,D).  The tape keeps x, the gate and the result. Costs a pass over them.
Var running_average(Context& cx, const Var& x, const Var& gate, const Spans& spans);

/// The same for one more row of each hypothesis, x and gate (R,D). `states` (C,D) holds the averages of the rows before
/// and takes the new ones, in the rows that `past` names.
Var running_average_step(Context& cx, const Var& x, const Var& gate, const Tensor& states, const StepKeys& past);

/// The state of a recurrent cell for n sentences: h (n,D), and c (n,D) that only an LSTM has. Empty: zeros.
struct CellState {
  Var h, c;
};

/// A step of a cell (backend/cell.h).  a, s (n,G·D): products of the input and of the state before; s may be empty.
/// The tape keeps a, s and the states, and computes the gates again on the way back; h has to be used.
CellState cell(Context& cx, Cell kind, const Var& a, const Var& s, const CellState& before);

/// y = x ⊙ σ(g), all (N,D).
Var gate(Context& cx, const Var& x, const Var& g);

}  // namespace dragoman
