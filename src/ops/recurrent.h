#pragma once
#include "autodiff/context.h"
#include "backend/cell.h"
#include "backend/step_keys.h"
#include "tensor/spans.h"

namespace dragoman {

/// Running average of a sentence's rows, per column: c_t = a_t ⊙ c_{t-1} + (1 - a_t) ⊙ x_t, where a_t = σ(gate_t) is
/// how much of the past is kept. Without a gate all rows weigh the same: c_t is the mean of x_1 … x_t
/// (Zhang et al. 2018, "Accelerating Neural Transformer via an Average Attention Network"; with a gate, the SSRU of Kim
/// et al. 2019, section 3.1).
/// x, gate (N,D)  →  (N,D).  The tape keeps x, the gate and the result. Costs one pass over them.
Var running_average(Context& cx, const Var& x, const Var& gate, const Spans& spans);

/// running_average for one more row of each hypothesis, x and gate (R,D). `past` locates the averages of each
/// hypothesis in `states` (C,D): reads the one before the last and writes the new one to the last.
Var running_average_step(Context& cx, const Var& x, const Var& gate, const Tensor& states, const StepKeys& past);

/// The state of a recurrent cell for n sentences: h (n,D), and for an LSTM also c (n,D). Empty: zeros.
struct CellState {
  Var h, c;
};

/// One step of a cell (backend/cell.h).  a, s (n,G·D): products of the input and of the previous state; s may be empty.
/// The tape keeps a, s and the states; the backward pass recomputes the gates. The caller must use h.
CellState cell(Context& cx, Cell kind, const Var& a, const Var& s, const CellState& before);

/// y = x ⊙ σ(g), all (N,D).
Var gate(Context& cx, const Var& x, const Var& g);

}  // namespace dragoman
