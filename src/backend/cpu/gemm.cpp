#include "backend/cpu/gemm.h"

#include <dnnl.h>
#include <omp.h>

#include <algorithm>

#include "backend/cpu/isa.h"
#include "base/threads.h"

// Exported by oneDNN beside dnnl_sgemm, and with its meaning, but declared by none of its headers. It is not there in
// every build: then it is null, and has_bfloat16() is false.
extern "C" [[gnu::weak]] dnnl_status_t dnnl_gemm_bf16bf16f32(char transa, char transb, dnnl_dim_t M, dnnl_dim_t N,
                                                             dnnl_dim_t K, float alpha, const dragoman::bfloat16* A,
                                                             dnnl_dim_t lda, const dragoman::bfloat16* B,
                                                             dnnl_dim_t ldb, float beta, float* C, dnnl_dim_t ldc);

namespace dragoman::cpu {
namespace {

char letter(Transpose t) { return t == Transpose::yes ? 'T' : 'N'; }

int64_t leading(const Tensor& x) { return std::max<int64_t>(1, x.stride()); }

// For CPUs without bf16 instructions: slow, so that tests run there too.
void portable_gemm(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                   Accumulate mode, int64_t K) {
  const auto C = c.view<float>();
  const auto A = a.view<const bfloat16>(), B = b.view<const bfloat16>();
  for (int64_t m = 0; m < C.rows; ++m)
    for (int64_t n = 0; n < C.cols; ++n) {
      float sum = mode == Accumulate::yes ? C(m, n) : 0;
      for (int64_t k = 0; k < K; ++k)
        sum += float(transpose_a == Transpose::yes ? A(k, m) : A(m, k)) *
               float(transpose_b == Transpose::yes ? B(n, k) : B(k, n));
      C(m, n) = sum;
    }
}

}  // namespace

bool has_bfloat16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") && dnnl_gemm_bf16bf16f32 != nullptr;
#else
  return false;
#endif
}

void gemm(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
          Accumulate mode) {
  const int64_t M = c.rows(), N = c.cols(), K = transpose_a == Transpose::yes ? a.rows() : a.cols();
  if (M == 0 || N == 0) return;
  if (K == 0) {
    for (int64_t m = 0; mode == Accumulate::no && m < M; ++m) std::fill_n(c.view<float>().row(m), N, 0.0f);
    return;
  }
  const bool half = a.dtype() == DType::bf16;
  if (half && !has_bfloat16()) return portable_gemm(c, a, transpose_a, b, transpose_b, mode, K);
  omp_set_num_threads(1);  // of this thread: oneDNN is to start none of its own
  const auto product = [&]<class T>(auto* function) {
    return function(letter(transpose_a), letter(transpose_b), M, N, K, 1.0f, a.as<const T>(), leading(a),
                    b.as<const T>(), leading(b), mode == Accumulate::yes ? 1.0f : 0.0f, c.as<float>(), leading(c));
  };
  const dnnl_status_t status =
      half ? product.operator()<bfloat16>(dnnl_gemm_bf16bf16f32) : product.operator()<float>(dnnl_sgemm);
  invariant(status == dnnl_success, "oneDNN refused a matrix product");
}

// Threads share the longer side of dw, so that each reads as little as can be of what others read too.
void gemm_over_rows(const Tensor& dw, const Tensor& dy, const Tensor& x, Accumulate mode) {
  if (dw.rows() >= dw.cols()) {
    parallel_blocks(dw.rows(), 16, [&](Range r, int) {
      const int64_t count = r.end - r.begin;
      gemm(dw.row_range(r.begin, count), dy.columns(r.begin, count), Transpose::yes, x, Transpose::no, mode);
    });
  } else {
    parallel_blocks(dw.cols(), 16, [&](Range r, int) {
      const int64_t count = r.end - r.begin;
      gemm(dw.columns(r.begin, count), dy, Transpose::yes, x.columns(r.begin, count), Transpose::no, mode);
    });
  }
}

}  // namespace dragoman::cpu
