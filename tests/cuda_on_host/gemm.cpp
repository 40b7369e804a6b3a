#include "backend/cuda/gemm.h"

#include "tests/cuda_on_host/memory.h"

namespace dragoman::cuda {
namespace {

template <class T>
double at(const Factor& f, int64_t row, int64_t col) {
  const auto m = f.matrix.view<const T>();
  return f.transposed ? m(col, row) : m(row, col);
}

template <class T>
void product(const Gemm& g) {
  const auto Y = g.y.view<float>(), bias = g.bias.view<float>();
  const int64_t K = g.b.transposed ? g.b.matrix.cols() : g.b.matrix.rows();
  for (int64_t n = 0; n < Y.rows; ++n)
    for (int64_t d = 0; d < Y.cols; ++d) {
      double sum = bias ? bias(d) : 0;
      for (int64_t k = 0; k < K; ++k) sum += at<T>(g.a, n, k) * at<T>(g.b, k, d);
      if (g.adds) sum += Y(n, d);
      Y(n, d) = float(g.act == Activation::relu ? std::max(sum, 0.0) : sum);
    }
}

}  // namespace

void gemm(const Gemm& g) {
  const cuda_on_host::Unlocked memory;
  if (g.a.matrix.dtype() == DType::f32) return product<float>(g);
  for_half(g.a.matrix.dtype(), [&]<class Half>() { product<Half>(g); });
}

}  // namespace dragoman::cuda
