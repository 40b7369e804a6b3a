#pragma once
#include "backend/kernel.h"

namespace dragoman::cpu {

enum class Transpose { no, yes };

/// c (M,N) = or += op(a) (M,K) · op(b) (K,N), for a and b both in f32 or both in bf16; c and all sums are f32. Through
/// oneDNN on the calling thread alone: kernels split c and process the product while it is cached. Rows
/// may be strided. Nothing is built or cached per shape; with AVX2 each thread may keep 2 MiB of copies, which memory
/// plans do not count, and CPUs without bf16 instructions compute bf16 from copies in f32. The last bits of a row
/// depend on M, so this is for training only; decoding uses linear_packed.
void gemm(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
          Accumulate mode);

/// The same for a = xᵀ, on all threads: dw (D,K) = or += dyᵀ · x, for dy (N,D) and x (N,K).
void gemm_over_rows(const Tensor& dw, const Tensor& dy, const Tensor& x, Accumulate mode);

}  // namespace dragoman::cpu
