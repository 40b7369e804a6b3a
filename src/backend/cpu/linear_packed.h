#pragma once
#include "tensor/activation.h"
#include "tensor/tensor.h"

namespace dragoman::cpu {

/// y (N,D) = act(x (N,K) · wᵀ + b) from packed weights (Backend::pack), each output one chain of multiply-adds over k.
void linear_packed(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act);

}  // namespace dragoman::cpu
