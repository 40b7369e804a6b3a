#pragma once
#include "backend/kernel.h"

namespace dragoman::cpu {

enum class Transpose { no, yes };

/// c (M,N) = or += op(a) (M,K) · op(b) (K,N) in f32, through oneDNN on all threads. Rows may be strided. Nothing is
/// built or cached per shape. The last bits of a row depend on M: training only, decoding uses linear_packed.
void sgemm(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
           Accumulate mode);

}  // namespace dragoman::cpu
