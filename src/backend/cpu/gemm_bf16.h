#pragma once
#include "backend/cpu/gemm.h"

namespace dragoman::cpu {

/// gemm() of factors in bf16; requires has_bfloat16() (backend/cpu/isa.h). No dimension is 0.
void gemm_bf16(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
               Accumulate mode);

}  // namespace dragoman::cpu
