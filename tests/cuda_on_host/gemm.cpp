#include "backend/cuda/gemm.h"

#include <cuda_runtime.h>

#include "tests/cuda_on_host/memory.h"

namespace dragoman::cuda {
namespace {

/// A factor as a device knows it: where it lies, which it does not keep from being given back.
template <class T>
struct Seen {
  View<const T> matrix;
  bool transposed;

  explicit Seen(const Factor& f) : matrix(f.matrix.view<const T>()), transposed(f.transposed) {}
  double at(int64_t row, int64_t col) const { return transposed ? matrix(col, row) : matrix(row, col); }
  int64_t rows() const { return transposed ? matrix.cols : matrix.rows; }
};

template <class T>
void product(const Gemm& g) {
  const auto Y = g.y.view<float>(), bias = g.bias.view<float>();
  const Seen<T> A(g.a), B(g.b);
  cuda_on_host::issue([Y, bias, A, B, act = g.act, adds = g.adds] {
    const cuda_on_host::Unlocked memory;
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d) {
        double sum = bias ? bias(d) : 0;
        for (int64_t k = 0; k < B.rows(); ++k) sum += A.at(n, k) * B.at(k, d);
        if (adds) sum += Y(n, d);
        Y(n, d) = float(act == Activation::relu ? std::max(sum, 0.0) : sum);
      }
  });
}

}  // namespace

void gemm(const Gemm& g) {
  if (g.a.matrix.dtype() == DType::f32) return product<float>(g);
  for_half(g.a.matrix.dtype(), [&]<class Half>() { product<Half>(g); });
}

}  // namespace dragoman::cuda
