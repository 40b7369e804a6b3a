#pragma once
#include "backend/dropout.h"
#include "backend/kernel.h"
#include "tensor/activation.h"

namespace dragoman {

/// Slots of the kernel table (backend/backend.h): fill, copy, add, activations, dropout.
struct ElementwiseKernels {
  Kernel<void(const Tensor& y, double value)> fill{"fill"};     // also in 16 bits
  Kernel<void(const Tensor& y, const Tensor& x)> copy{"copy"};  // converts between floating-point types, but not
                                                                // between f64 and 16 bits; x may be in host memory
  Kernel<void(const Tensor& y, const Tensor& x, double factor)> add{"add"};  // y += factor · x; also in 16 bits

  // y = act(x), y may be x's memory; backward from what was saved: y if slope_of_output(act) (tensor/activation.h),
  // else x. dx may be dy's memory.
  Kernel<void(const Tensor& y, const Tensor& x, Activation act)> activation{"activation"};
  Kernel<void(Grad dx, const Tensor& dy, const Tensor& saved, Activation act)> activation_backward{
      "activation_backward"};

  // y = act(a) ⊙ b of x = [a b] (Shazeer 2020, equation 5).  y, dy (N,D)  x (N,2·D).  Also in 16 bits.
  Kernel<void(const Tensor& y, const Tensor& x, Activation act)> gated{"gated"};
  Kernel<void(Grad dx, const Tensor& dy, const Tensor& x, Activation act)> gated_backward{"gated_backward"};

  // y = x + dropout(r), x may be empty.  dr = mask · dy.  Also in 16 bits.
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& r, const Dropout& drop)> dropout{"dropout"};
  Kernel<void(Grad dr, const Tensor& dy, const Dropout& drop)> dropout_backward{"dropout_backward"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.fill, k.copy, k.add, k.activation, k.activation_backward, k.gated, k.gated_backward, k.dropout,
          k.dropout_backward);
  }
};

}  // namespace dragoman
