#include "backend/reference/activation.h"
#include "backend/elementwise.h"

#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// y, x (N,D)
void forward(const Tensor& y, const Tensor& x, Activation act) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>();
    for (int64_t n = 0; n < X.rows; ++n)
      for (int64_t d = 0; d < X.cols; ++d) Y(n, d) = activate(X(n, d), act);
  });
}

// dx = dy · act'(saved)
void backward(Grad dx, const Tensor& dy, const Tensor& saved, Activation act) {
  for_dtype(dy.dtype(), [&]<class T>() {
    const auto DX = dx.tensor.view<T>(), DY = dy.view<T>(), S = saved.view<T>();
    for (int64_t n = 0; n < DY.rows; ++n)
      for (int64_t d = 0; d < DY.cols; ++d) put(DX(n, d), DY(n, d) * slope(S(n, d), act), dx.mode);
  });
}

// y = act(a) ⊙ b, x = [a b].  y (N,D)  x (N,2·D)
void gated(const Tensor& y, const Tensor& x, Activation act) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>();
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = activate(X(n, d), act) * X(n, Y.cols + d);
  });
}

// da = dy · b · act'(a),  db = dy · act(a)
void gated_backward(Grad dx, const Tensor& dy, const Tensor& x, Activation act) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto DX = dx.tensor.view<T>(), DY = dy.view<T>(), X = x.view<T>();
    for (int64_t n = 0; n < DY.rows; ++n)
      for (int64_t d = 0; d < DY.cols; ++d) {
        const GatedSlopes<T> slopes = gated_slopes(X(n, d), X(n, DY.cols + d), act);
        put(DX(n, d), DY(n, d) * slopes.first, dx.mode);
        put(DX(n, DY.cols + d), DY(n, d) * slopes.second, dx.mode);
      }
  });
}

}  // namespace

void install_activation(ElementwiseKernels& b) {
  b.activation = forward;
  b.activation_backward = backward;
  b.gated = gated;
  b.gated_backward = gated_backward;
}

}  // namespace dragoman::reference
