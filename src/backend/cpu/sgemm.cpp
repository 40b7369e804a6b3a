#include "backend/cpu/sgemm.h"

#include <dnnl.h>

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
  const dnnl_status_t status =
      dnnl_sgemm(letter(transpose_a), letter(transpose_b), M, N, K, 1.0f, a.as<const float>(), leading(a),
                 b.as<const float>(), leading(b), mode == Accumulate::yes ? 1.0f : 0.0f, c.as<float>(), leading(c));
  invariant(status == dnnl_success, "oneDNN refused a matrix product");
}

}  // namespace dragoman::cpu
