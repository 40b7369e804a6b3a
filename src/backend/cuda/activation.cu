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

// y = act(a) ⊙ b, x = [a b].  y (N,D)  x (N,2·D)
void gated(const Tensor& y, const Tensor& x, Activation act) {
  const Values Y(y), X(x);
  each_element(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) {
    Y.set(n, d, reference::activate(X(n, d), act) * X(n, Y.cols + d));
  });
}

// da = dy · b · act'(a),  db = dy · act(a)
void gated_backward(Grad dx, const Tensor& dy, const Tensor& x, Activation act) {
  const Put DX(dx);
  const Values DY(dy), X(x);
  each_element(DY.rows, DY.cols, [=] __device__(int64_t n, int64_t d) {
    const reference::GatedSlopes<float> slopes = reference::gated_slopes(X(n, d), X(n, DY.cols + d), act);
    DX(n, d, DY(n, d) * slopes.first);
    DX(n, DY.cols + d, DY(n, d) * slopes.second);
  });
}

}  // namespace

void install_activation(Backend& b) {
  b.activation = forward;
  b.activation_backward = backward;
  b.gated = gated;
  b.gated_backward = gated_backward;
}

}  // namespace dragoman::cuda
