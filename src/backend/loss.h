#pragma once
#include "backend/kernel.h"
#include "backend/step_keys.h"
#include "backend/work.h"

namespace dragoman {

/// Slots of the kernel table (backend/backend.h): the training loss, and copying in decoding.
struct LossKernels {
  // Linear + label-smoothed cross-entropy (Szegedy et al. 2016, section 7) in row chunks: the (N,V) logits never exist.
  // loss, log_prob (N) stat type: smoothed loss and log p(target).  x (N,D)  w (V,D)  bias (V) stat type or empty
  // targets (N) int32.  dx, dw, dbias: gradients of the sum of losses, if wanted. x and w may be 16-bit as in `linear`;
  // dx, dw and dbias then come from dz rounded to that type.
  // Weights (N) f32 multiply losses, and so their gradients, but not log_prob. With a gate, target tokens are generated
  // or copied (backend/copying.h).
  struct LinearCrossEntropy {
    Tensor loss, log_prob;
    Grad dx, dw;
    Tensor x, w, targets;
    // w rearranged by `pack` in its own type, or empty. With it, a row's result depends on that row alone, and w may
    // have no memory.
    Tensor packed;
    double label_smoothing = 0;
    Tensor scratch;       // linear_cross_entropy_scratch bytes
    Tensor weights;       // empty: all 1
    Tensor gate, copied;  // (N,1) both or neither: a number, and the copy probability of the target token
    Grad dgate, dcopied;
    Tensor bias;  // empty: none
    Grad dbias;
    bool backward() const { return dx || dw || dbias; }
  };
  Kernel<int64_t(int64_t N, int64_t V, DType factors)> linear_cross_entropy_scratch{"linear_cross_entropy_scratch"};
  Kernel<void(const LinearCrossEntropy& l)> linear_cross_entropy{
      "linear_cross_entropy",
      [](const auto& l) { return (1.0 + bool(l.dx) + bool(l.dw)) * work::product(l.x, l.w.rows()); }};

  // Turns logits of a decoding step into log probabilities of generating or copying (backend/copying.h): y_v =
  // log(σ(gate) · softmax_v + (1 - σ(gate)) · Σ a_t over t with pieces_t = v), where a = softmax_t(q·k_t / √K).
  struct CopyStep {
    Tensor y, scores;   // (R,V)  (R,T) room for log a
    Tensor lse;         // (R) stat type: log Σ exp of each row of y
    Tensor q, k, gate;  // (R,K)  (C,K)  (R,1)
    StepKeys keys;      // of at most T, without a table
    Tensor pieces;      // (R,T) int32
  };
  Kernel<void(const CopyStep& c)> copy_step{"copy_step"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.linear_cross_entropy_scratch, k.linear_cross_entropy, k.copy_step);
  }
};

}  // namespace dragoman
