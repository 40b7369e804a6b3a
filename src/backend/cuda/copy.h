#pragma once
#include "tensor/tensor.h"

namespace dragoman::cuda {

/// y = x, each f32 or of a 16-bit type: Backend::copy.
void copy(const Tensor& y, const Tensor& x);

}  // namespace dragoman::cuda
