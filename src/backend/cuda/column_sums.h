#pragma once
#include "backend/kernel.h"

namespace dragoman::cuda {

/// to (D) = or += Σ_n x (N,D)
void column_sums(const Grad& to, const Tensor& x);

}  // namespace dragoman::cuda
