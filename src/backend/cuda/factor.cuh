#pragma once
#include "tensor/dtype.h"

namespace dragoman::cuda {

/// Calls f.operator()<T>() with the type of the operands: float, or a 16-bit type.
template <class F>
void for_factor(DType dtype, F f) {
  if (is_half(dtype)) return for_half(dtype, f);
  f.template operator()<float>();
}

}  // namespace dragoman::cuda
