#pragma once
#include "backend/cell.h"
#include "backend/kernel.h"
#include "backend/step_keys.h"
#include "tensor/spans.h"

namespace dragoman {

/// Slots of the kernel table (backend/backend.h): running averages, recurrent cells, gates.
struct RecurrentKernels {
  // The average of a sentence's rows so far, column by column: c_t = a_t ⊙ c_{t-1} + (1 - a_t) ⊙ x_t, with c = 0 before
  // the first row. a_t = σ(gate_t); without a gate (t - 1) / t, which makes c_t the mean
  // (Zhang et al. 2018, "Accelerating Neural Transformer via an Average Attention Network"; with a gate, Kim et al.
  // 2019, section 3.1).  c, x, gate (N,D)
  Kernel<void(const Tensor& c, const Tensor& x, const Tensor& gate, const Spans& spans)> running_average{
      "running_average"};
  struct RunningAverageBackward {
    Grad dx, dgate;         // (N,D) each
    Tensor dc, c, x, gate;  // (N,D) each; gate may be empty
    Spans spans;
  };
  Kernel<void(const RunningAverageBackward& b)> running_average_backward{"running_average_backward"};
  // One row per hypothesis. c (R,D) is also written to the last row of its past in `states` (C,D); the row before holds
  // c_{t-1}.
  Kernel<void(const Tensor& c, const Tensor& states, const Tensor& x, const Tensor& gate, const StepKeys& past)>
      running_average_step{"running_average_step"};

  // A step of a recurrent cell for n sentences (backend/cell.h). Absent inputs are zero.
  struct CellStep {
    Tensor h, c;                // (n,D); c: lstm only
    Tensor a, s;                // (n,G·D): products of the input and, or empty, of the state before
    Tensor h_before, c_before;  // (n,D) or empty: read by gru and by lstm
    Cell cell;
  };
  Kernel<void(const CellStep& s)> cell{"cell"};
  struct CellBackward {
    Grad da, ds, dh_before, dc_before;  // (n,G·D)  (n,G·D)  (n,D)  (n,D)
    Tensor dh, dc;                      // (n,D); dc may be empty
    CellStep forward;
  };
  Kernel<void(const CellBackward& b)> cell_backward{"cell_backward"};

  // y = x ⊙ σ(gate), all (N,D)
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& gate)> gate{"gate"};
  Kernel<void(Grad dx, Grad dgate, const Tensor& dy, const Tensor& x, const Tensor& gate)> gate_backward{
      "gate_backward"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.running_average, k.running_average_backward, k.running_average_step, k.cell, k.cell_backward, k.gate,
          k.gate_backward);
  }
};

}  // namespace dragoman
