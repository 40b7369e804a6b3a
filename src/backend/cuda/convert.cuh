#pragma once
#include "backend/cuda/device.cuh"

namespace dragoman::cuda {

/// y (T) = x (f32)
template <class T>
void convert(const Tensor& y, const Tensor& x) {
  const auto Y = view<T>(y);
  const auto X = view<const float>(x);
  each_element(X.rows, X.cols, [=] __device__(int64_t n, int64_t d) { Y(n, d) = T(X(n, d)); });
}

/// Calls f.operator()<T>() with the type of the operands: float, or a 16-bit type.
template <class F>
void for_factor(DType dtype, F f) {
  if (is_half(dtype)) return for_half(dtype, f);
  f.template operator()<float>();
}

}  // namespace dragoman::cuda
