#pragma once
#include "backend/kernel.h"

namespace dragoman::cuda {

/// Backend::linear_backward_weight
void linear_backward_weight(Grad dw, Grad db, const Tensor& dz, const Tensor& x);

}  // namespace dragoman::cuda
