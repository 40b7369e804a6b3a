#pragma once
#include "backend/kernel.h"
#include "tensor/activation.h"

/// Floating-point operations of the products, for profiles: two (multiply, add) per pair of numbers.
namespace dragoman::work {

inline double product(const Tensor& y, int64_t inner) { return 2.0 * double(y.elements()) * double(inner); }
inline double linear(const Tensor& y, const Tensor& x, const Tensor&, const Tensor&, Activation) {
  return product(y, x.cols());
}
inline double linear_backward_input(Grad, const Tensor& dy, const Tensor& w) { return product(dy, w.cols()); }
inline double linear_backward_weight(Grad dw, Grad, const Tensor& dz, const Tensor& x) {
  return dw ? product(dz, x.cols()) : 0;
}
inline double linear_packed(const Tensor& y, const Tensor& x, const Tensor&, const Tensor&, Activation, const Tensor&) {
  return product(y, x.cols());
}

}  // namespace dragoman::work
