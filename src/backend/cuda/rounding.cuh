#pragma once
#include <cstdint>
#include <nv/target>

#include "tensor/bfloat16.h"
#include "tensor/float16.h"

/// Rounds two floats to a word of two 16-bit numbers, x in the lower half: in one instruction from compute
/// capability 8.0 on, which GPUs before compute with integers.
namespace dragoman::cuda {

__device__ inline uint32_t two_bf16(float x, float y) {
  uint32_t word = 0;
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80,
                    (asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
                         : "=r"(word)
                         : "f"(y), "f"(x));),
                    (word = bfloat16(x).bits | uint32_t{bfloat16(y).bits} << 16;))
  return word;
}

__device__ inline uint32_t two_f16(float x, float y) {
  uint32_t word = 0;
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80,
                    (asm("cvt.rn.f16x2.f32 %0, %1, %2;"
                         : "=r"(word)
                         : "f"(y), "f"(x));),
                    (word = float16(x).bits | uint32_t{float16(y).bits} << 16;))
  return word;
}

/// In one instruction; the conversion of float16 takes a dozen.
__device__ inline float widened(float16 x) {
  float y = 0;
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));), (y = float(x);))
  return y;
}
__device__ inline float widened(bfloat16 x) { return float(x); }

}  // namespace dragoman::cuda
