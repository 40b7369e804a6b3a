#include <type_traits>

#include "backend/elementwise.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

/// The type of sums of values of type T.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

void fill(const Tensor& y, double value) {
  for_stored(y.dtype(), [&]<class T>() {
    const auto Y = y.view<T>();
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = T(Sum<T>(value));
  });
}

void copy(const Tensor& y, const Tensor& x) {
  for_stored(y.dtype(), [&]<class T>() {
    for_stored(x.dtype(), [&]<class S>() {
      const auto Y = y.view<T>();
      const auto X = x.view<S>();
      for (int64_t n = 0; n < Y.rows; ++n)
        for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = T(Sum<T>(X(n, d)));
    });
  });
}

void add(const Tensor& y, const Tensor& x, double factor) {
  for_stored(y.dtype(), [&]<class T>() {
    for_stored(x.dtype(), [&]<class S>() {
      const auto Y = y.view<T>();
      const auto X = x.view<S>();
      for (int64_t n = 0; n < Y.rows; ++n)
        for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = T(Sum<T>(Y(n, d)) + Sum<T>(factor) * Sum<T>(X(n, d)));
    });
  });
}

}  // namespace

void install_elementwise(ElementwiseKernels& b) {
  b.fill = fill;
  b.copy = copy;
  b.add = add;
}

}  // namespace dragoman::reference
