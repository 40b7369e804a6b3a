#include "backend/reference/activation.h"

#include "backend/cpu/families.h"
#include "base/threads.h"

namespace dragoman::cpu {
namespace {

// The reference's formulas on all threads; relu, the common one, is part of `linear` and never comes here forward.
void forward(const Tensor& y, const Tensor& x, Activation act) {
  const auto Y = y.view<float>(), X = x.view<float>();
  parallel_blocks(X.rows, 16, [&](Range rows, int) {
    for (int64_t n = rows.begin; n < rows.end; ++n)
      for (int64_t d = 0; d < X.cols; ++d) Y(n, d) = reference::activate(X(n, d), act);
  });
}

template <Activation act>
void slopes(View<float> DX, View<const float> DY, View<const float> S, bool adds) {
  parallel_blocks(DY.rows, 16, [&](Range rows, int) {
    for (int64_t n = rows.begin; n < rows.end; ++n)
      for (int64_t d = 0; d < DY.cols; ++d) {
        const float g = DY(n, d) * reference::slope(S(n, d), act);
        DX(n, d) = adds ? DX(n, d) + g : g;
      }
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
  }
}

}  // namespace

void install_activation(Backend& b) {
  b.activation = forward;
  b.activation_backward = backward;
}

}  // namespace dragoman::cpu
