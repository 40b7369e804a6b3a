#pragma once
#include <span>

#include "backend/kernel.h"

namespace dragoman {

/// One parameter of a multi-tensor Adam update (Kingma & Ba 2015, algorithm 1; decoupled weight decay).
struct AdamTensor {
  Tensor parameter, gradient, first_moment, second_moment;  // same shape
};
struct AdamStep {
  double rate, beta1, beta2, epsilon, weight_decay;
  double correction1, correction2;  // 1 - beta^t
  double target_tokens = 1;         // gradients are sums, which are divided by this number
  double clip_norm = 0;             // of the mean gradient (Pascanu et al. 2013, algorithm 1); 0: no limit
};
/// Totals over the whole update. If either is not finite, the update changes nothing.
struct AdamTotals {
  Tensor loss, squares;  // (1) f64: the sum of losses, the sum of squares of all gradients
};

/// Slots of the kernel table (backend/backend.h): reductions and Adam.
struct OptimizerKernels {
  // Reductions and the optimizer.  Sums in f64, in an order fixed by the sizes alone: total (1) f64 = or += Σ x, and
  // total = Σ x² of all elements of all tensors. Both totals, and all that depends on them (backend/gradient_scale.h),
  // stay in the backend's memory.
  Kernel<void(Grad total, const Tensor& x)> sum{"sum"};
  Kernel<void(const Tensor& total, std::span<const Tensor> tensors)> sum_of_squares{"sum_of_squares"};
  Kernel<void(std::span<const AdamTensor> tensors, const AdamStep& step, const AdamTotals& totals)> adam{"adam"};
  // average = (1 - weight) · average + weight · x
  Kernel<void(const Tensor& average, const Tensor& x, double weight)> moving_average{"moving_average"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.sum, k.sum_of_squares, k.adam, k.moving_average);
  }
};

}  // namespace dragoman
