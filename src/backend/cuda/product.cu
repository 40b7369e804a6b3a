#include "backend/cuda/device.cuh"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/gemm.h"
#include "backend/reference/activation.h"

namespace dragoman::cuda {
namespace {

// One thread per element of y (f32), without matrix units: correct for all shapes, fast for none.
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

void multiply_slowly(const Gemm& g) {
  count_slow_product(g);
  for_factor(g.a.matrix.dtype(), [&]<class T>() { multiply_plainly<T>(g); });
}

// y = act(sums + bias), or y += sums; sums are f32 and may be y itself.
template <class T>
void end_product(const Gemm& g, const Tensor& sums, bool adds) {
  const auto Y = view<T>(g.y);
  const auto S = view<const float>(sums);
  const auto bias = view<const T>(g.bias);
  const Activation act = g.act;
  each_element(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) {
    const float sum = reference::activate(bias ? S(n, d) + float(bias(d)) : S(n, d), act);
    Y(n, d) = T(adds ? float(Y(n, d)) + sum : sum);
  });
}

}  // namespace

void gemm(const Gemm& g) {
  if (try_gemm(g)) return;
  const bool rounds = is_half(g.y.dtype());
  if (!rounds && !g.bias && g.act == Activation::none) return multiply_slowly(g);
  const auto memory = rounds ? piece(g.y.elements() * int64_t{sizeof(float)}) : nullptr;
  const Tensor sums = rounds ? Tensor(nullptr, memory.get(), g.y.shape(), DType::f32, g.y.memory()) : g.y;
  gemm({.y = sums, .a = g.a, .b = g.b, .adds = g.adds && !rounds});
  for_factor(g.y.dtype(), [&]<class T>() { end_product<T>(g, sums, g.adds && rounds); });
}

}  // namespace dragoman::cuda
