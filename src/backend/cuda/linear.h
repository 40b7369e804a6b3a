#pragma once
#include "backend/kernel.h"

namespace dragoman::cuda {

/// to (D) = or += Σ_n x (N,D), which is f32 or of a 16-bit type
void column_sums(const Grad& to, const Tensor& x);

/// Backend::linear_backward_weight
void linear_backward_weight(Grad dw, Grad db, const Tensor& dz, const Tensor& x);

}  // namespace dragoman::cuda
