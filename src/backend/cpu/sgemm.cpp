#include "backend/cpu/sgemm.h"

#include <dnnl.h>
#include <omp.h>

#include "base/threads.h"

namespace dragoman::cpu {

void sgemm(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
           Accumulate mode) {
  const int64_t M = c.rows(), N = c.cols(), K = transpose_a == Transpose::yes ? a.rows() : a.cols();
  if (M == 0 || N == 0) return;
  const auto letter = [](Transpose t) { return t == Transpose::yes ? 'T' : 'N'; };
  const auto leading = [](const Tensor& x) { return std::max<int64_t>(1, x.stride()); };
  if (K == 0) {
    for (int64_t m = 0; mode == Accumulate::no && m < M; ++m) std::fill_n(c.view<float>().row(m), N, 0.0f);
    return;
  }
  omp_set_num_threads(1);  // of this thread: oneDNN is to start none of its own
  const dnnl_status_t status =
      dnnl_sgemm(letter(transpose_a), letter(transpose_b), M, N, K, 1.0f, a.as<const float>(), leading(a),
                 b.as<const float>(), leading(b), mode == Accumulate::yes ? 1.0f : 0.0f, c.as<float>(), leading(c));
  invariant(status == dnnl_success, "oneDNN refused a matrix product");
}

// Threads share the longer side of dw, so that each reads as little as can be of what others read too.
void sgemm_over_rows(const Tensor& dw, const Tensor& dy, const Tensor& x, Accumulate mode) {
  if (dw.rows() >= dw.cols()) {
    parallel_blocks(dw.rows(), 16, [&](Range r, int) {
      const int64_t count = r.end - r.begin;
      sgemm(dw.row_range(r.begin, count), dy.columns(r.begin, count), Transpose::yes, x, Transpose::no, mode);
    });
  } else {
    parallel_blocks(dw.cols(), 16, [&](Range r, int) {
      const int64_t count = r.end - r.begin;
      sgemm(dw.columns(r.begin, count), dy, Transpose::yes, x.columns(r.begin, count), Transpose::no, mode);
    });
  }
}

}  // namespace dragoman::cpu
