#pragma once
#include <cstdint>

#include "tensor/bfloat16.h"
#include "tensor/float16.h"

namespace dragoman::cuda {

inline uint32_t two_bf16(float x, float y) { return bfloat16(x).bits | uint32_t{bfloat16(y).bits} << 16; }
inline uint32_t two_f16(float x, float y) { return float16(x).bits | uint32_t{float16(y).bits} << 16; }
inline float widened(float16 x) { return x; }
inline float widened(bfloat16 x) { return x; }

}  // namespace dragoman::cuda
