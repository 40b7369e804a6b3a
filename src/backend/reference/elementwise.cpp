#include "backend/elementwise.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

void fill(const Tensor& y, double value) {
  for_dtype(y.dtype(), [&]<class T>() {
    const auto Y = y.view<T>();
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = T(value);
  });
}

void copy(const Tensor& y, const Tensor& x) {
  for_dtype(y.dtype(), [&]<class T>() {
    for_dtype(x.dtype(), [&]<class S>() {
      const auto Y = y.view<T>();
      const auto X = x.view<S>();
      for (int64_t n = 0; n < Y.rows; ++n)
        for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = T(X(n, d));
    });
  });
}

void add(const Tensor& y, const Tensor& x, double factor) {
  for_dtype(y.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>();
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) += T(factor) * X(n, d);
  });
}

void round(const Tensor& y, const Tensor& x) {
  for_dtype(x.dtype(), [&]<class T>() {
    for_half(y.dtype(), [&]<class Half>() {
      const auto Y = y.view<Half>();
      const auto X = x.view<T>();
      for (int64_t n = 0; n < Y.rows; ++n)
        for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = Half(float(X(n, d)));
    });
  });
}

}  // namespace

void install_elementwise(ElementwiseKernels& b) {
  b.fill = fill;
  b.copy = copy;
  b.add = add;
  b.round = round;
}

}  // namespace dragoman::reference
