#include "backend/cuda/gemm.h"

#include <cuda_runtime.h>

#include <numeric>

#include "tests/cuda_on_host/memory.h"

namespace dragoman::cuda {
namespace {

/// A factor as a device sees it: its address only, which does not keep the memory alive.
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
        Y(n, d) = float(act == Activation::relu && !(sum > 0) ? 0 : sum);  // turns NaN into 0, as the library may
      }
  });
}

/// What cuBLASLt requires for integers in plain order (its documentation, cublasLtMatmul; it sees yᵀ = w · xᵀ): A
/// transposed, B not; m, k and leading dimensions multiples of 4; no epilogue. Its fast kernels also need columns of
/// factors at multiples of 16 bytes, and it is known to have kernels only for more than 16 columns of y.
void check_integers(const Gemm& g) {
  const Tensor &x = g.a.matrix, &w = g.b.matrix;
  invariant(w.dtype() == DType::i8 && g.y.dtype() == DType::i32, "bytes times bytes are sums in 32 bits");
  invariant(!g.a.transposed && g.b.transposed && x.cols() == w.cols(), "integers are multiplied row by row");
  invariant(g.y.rows() > 16 && g.y.cols() % 4 == 0 && x.cols() % 4 == 0, "there are kernels for such sizes");
  invariant(g.y.stride() % 4 == 0, "leading dimensions go in fours");
  for (const Tensor& m : {x, w})
    invariant(reinterpret_cast<uintptr_t>(m.data()) % 16 == 0 && m.stride() % 16 == 0, "wide loads are aligned");
  invariant(!g.bias && g.act == Activation::none && !g.adds, "sums of integers have no epilogue");
}

void integer_product(const Gemm& g) {
  check_integers(g);
  const auto Y = g.y.view<int32_t>();
  const auto X = g.a.matrix.view<const int8_t>(), W = g.b.matrix.view<const int8_t>();
  cuda_on_host::issue([=] {
    const cuda_on_host::Unlocked memory;
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = std::inner_product(X.row(n), X.row(n) + X.cols, W.row(d), 0);
  });
}

/// Whether rows start at multiples of 4 bytes. If not, the library may have no kernel for 16-bit numbers. This stand-in
/// has none for them, nor one that adds a bias to an odd number of columns.
bool even(const Tensor& m) { return m.stride() * size_of(m.dtype()) % 4 == 0; }

}  // namespace

bool try_gemm(const Gemm& g) {
  const DType dtype = g.a.matrix.dtype();
  if (dtype == DType::i8) return integer_product(g), true;
  if (!even(g.a.matrix) || !even(g.b.matrix)) return false;
  if (g.bias && g.y.cols() % 2 != 0) return false;
  if (dtype == DType::f32) return product<float>(g), true;
  for_half(dtype, [&]<class Half>() { product<Half>(g); });
  return true;
}

}  // namespace dragoman::cuda
