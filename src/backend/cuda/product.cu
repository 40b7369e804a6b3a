#include "backend/cuda/convert.cuh"
#include "backend/cuda/gemm.h"
#include "backend/reference/activation.h"

namespace dragoman::cuda {
namespace {

// One thread per element of y, without matrix units: correct for all shapes, fast for none.
template <class T>
void multiply_plainly(const Gemm& g) {
  const auto Y = view<float>(g.y);
  const auto A = view<const T>(g.a.matrix), B = view<const T>(g.b.matrix);
  const bool a_turned = g.a.transposed, b_turned = g.b.transposed, adds = g.adds;
  const int64_t K = a_turned ? A.rows : A.cols;
  each_element(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) {
    float sum = adds ? Y(n, d) : 0.f;
    for (int64_t k = 0; k < K; ++k)
      sum = fmaf(float(a_turned ? A(k, n) : A(n, k)), float(b_turned ? B(d, k) : B(k, d)), sum);
    Y(n, d) = sum;
  });
}

void end_product(const Tensor& y, const Tensor& b, Activation act) {
  const auto Y = view<float>(y);
  const auto bias = view<const float>(b);
  each_element(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) {
    Y(n, d) = reference::activate(bias ? Y(n, d) + bias(d) : Y(n, d), act);
  });
}

}  // namespace

void gemm(const Gemm& g) {
  if (try_gemm(g)) return;
  const Gemm product{.y = g.y, .a = g.a, .b = g.b, .adds = g.adds};
  if (!try_gemm(product)) {
    count_slow_product(product);
    for_factor(g.a.matrix.dtype(), [&]<class T>() { multiply_plainly<T>(product); });
  }
  if (g.bias || g.act != Activation::none) end_product(g.y, g.bias, g.act);
}

}  // namespace dragoman::cuda
