#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <nv/target>

/// Exponentials for softmax. T is the type of the factors of products (logits: the type in which they are stored):
/// results of 16-bit ones need no more digits than the power of two that a GPU computes in one instruction.
namespace dragoman::cuda {

/// What an exponent is multiplied by before `power`.
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

__device__ inline float product_rounded_up(float x, float y) { return __fmul_ru(x, y); }

/// e to the scale · (x - highest), for x up to `highest`. One instruction multiplies and subtracts, and rounds only the
/// difference, so that the subtrahend must not be less than the exact product: if it were, numbers as large as
/// Backend::GaussianWindow::hidden would have an infinite power.
template <class T>
struct PowersBelow {
  float unit, subtrahend;

  __device__ explicit PowersBelow(float highest, float scale = 1)
      : unit(scale * exponent_unit<T>), subtrahend(highest == -INFINITY ? 0.f : product_rounded_up(unit, highest)) {}
  __device__ float operator()(float x) const { return power<T>(fmaf(unit, x, -subtrahend)); }
};

}  // namespace dragoman::cuda
