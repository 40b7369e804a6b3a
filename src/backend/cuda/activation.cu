#include "backend/cuda/families.h"
#include "backend/cuda/put.cuh"
#include "backend/reference/activation.h"

namespace dragoman::cuda {
namespace {

// y, x (N,D)
void forward(const Tensor& y, const Tensor& x, Activation act) {
  const auto Y = view<float>(y);
  const auto X = view<const float>(x);
  each_element(X.rows, X.cols, [=] __device__(int64_t n, int64_t d) { Y(n, d) = reference::activate(X(n, d), act); });
}

// dx = dy · act'(saved)
void backward(Grad dx, const Tensor& dy, const Tensor& saved, Activation act) {
  const Put DX(dx);
  const auto DY = view<const float>(dy), S = view<const float>(saved);
  each_element(DY.rows, DY.cols,
               [=] __device__(int64_t n, int64_t d) { DX(n, d, DY(n, d) * reference::slope(S(n, d), act)); });
}

}  // namespace

void install_activation(Backend& b) {
  b.activation = forward;
  b.activation_backward = backward;
}

}  // namespace dragoman::cuda
