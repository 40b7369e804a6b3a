#include "backend/dropout.h"

#include "backend/elementwise.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// y = x + mask · r.  y, x, r (N,D), x may be empty
void forward(const Tensor& y, const Tensor& x, const Tensor& r, const Dropout& drop) {
  for_dtype(y.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>(), R = r.view<T>();
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d)
        Y(n, d) = (X ? X(n, d) : T(0)) + T(dropout_factor(drop, n, drop.op, d)) * R(n, d);
  });
}

// dr = mask · dy
void backward(Grad dr, const Tensor& dy, const Dropout& drop) {
  for_dtype(dy.dtype(), [&]<class T>() {
    const auto DR = dr.tensor.view<T>(), DY = dy.view<T>();
    for (int64_t n = 0; n < DY.rows; ++n)
      for (int64_t d = 0; d < DY.cols; ++d) put(DR(n, d), T(dropout_factor(drop, n, drop.op, d)) * DY(n, d), dr.mode);
  });
}

}  // namespace

void install_dropout(ElementwiseKernels& b) {
  b.dropout = forward;
  b.dropout_backward = backward;
}

}  // namespace dragoman::reference
