#include "backend/reference/activation.h"
#include "backend/elementwise.h"

#include "backend/cpu/families.h"
#include "base/threads.h"

namespace dragoman::cpu {
namespace {

// The reference's formulas on all threads; the forward pass of relu, the common case, is part of `linear`.
void forward(const Tensor& y, const Tensor& x, Activation act) {
  const auto Y = y.view<float>(), X = x.view<float>();
  parallel_blocks(X.rows, 16, [&](Range rows, int) {
    for (int64_t n = rows.begin; n < rows.end; ++n)
      for (int64_t d = 0; d < X.cols; ++d) Y(n, d) = reference::activate(X(n, d), act);
  });
}

// The slope of relu selects; as a factor it would be a branch per number, half of them mispredicted.
template <Activation act>
float backward_of(float dy, float saved) {
  if constexpr (act == Activation::relu) return saved > 0 ? dy : 0.0f;
  return dy * reference::slope(saved, act);
}

// Rows by pointer, so that the compiler vectorises. dx may be dy.
template <Activation act, bool adds>
void slope_rows(View<float> DX, View<const float> DY, View<const float> S, Range rows) {
  for (int64_t n = rows.begin; n < rows.end; ++n) {
    float* dx = DX.row(n);
    const float *dy = DY.row(n), *saved = S.row(n);
#pragma omp simd
    for (int64_t d = 0; d < DY.cols; ++d) {
      const float g = backward_of<act>(dy[d], saved[d]);
      dx[d] = adds ? dx[d] + g : g;
    }
  }
}

template <Activation act>
void slopes(View<float> DX, View<const float> DY, View<const float> S, bool adds) {
  parallel_blocks(DY.rows, 16, [&](Range rows, int) {
    adds ? slope_rows<act, true>(DX, DY, S, rows) : slope_rows<act, false>(DX, DY, S, rows);
  });
}

void backward(Grad dx, const Tensor& dy, const Tensor& saved, Activation act) {
  const auto DX = dx.tensor.view<float>();
  const auto DY = dy.view<const float>(), S = saved.view<const float>();
  switch (act) {
    case Activation::none:
      return slopes<Activation::none>(DX, DY, S, dx.adds());
    case Activation::relu:
      return slopes<Activation::relu>(DX, DY, S, dx.adds());
    case Activation::gelu:
      return slopes<Activation::gelu>(DX, DY, S, dx.adds());
    case Activation::swish:
      return slopes<Activation::swish>(DX, DY, S, dx.adds());
    case Activation::tanh:
      return slopes<Activation::tanh>(DX, DY, S, dx.adds());
    case Activation::gelu_tanh:
      return slopes<Activation::gelu_tanh>(DX, DY, S, dx.adds());
    case Activation::gelu_sigmoid:
      return slopes<Activation::gelu_sigmoid>(DX, DY, S, dx.adds());
  }
}

}  // namespace

void install_activation(ElementwiseKernels& b) {
  b.activation = forward;
  b.activation_backward = backward;
}

}  // namespace dragoman::cpu
