#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <nv/target>

/// Exponentials for softmax. T is the type of the factors of products (logits: the type in which they are stored):
/// results of 16-bit ones need no more digits than the power of two that a GPU computes in one instruction.
namespace dragoman::cuda {

/// What an exponent is multiplied by before `power`. Where this is a multiplication and an addition, it is one
/// instruction.
template <class T>
constexpr float exponent_unit = sizeof(T) == 2 ? 1.4426950408889634f : 1.f;  // log2(e)

/// e to the x / exponent_unit. Below 2^-126 it may be 0.
template <class T>
__device__ float power(float x) {
  if constexpr (sizeof(T) == 2) {
    float y = 0;
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (asm("ex2.approx.ftz.f32 %0, %1;"
                           : "=f"(y)
                           : "f"(x));),
                      (y = x < -126 ? 0.f : std::exp2(x);))
    return y;
  } else {
    return expf(x);
  }
}

}  // namespace dragoman::cuda
