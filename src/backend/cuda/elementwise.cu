#include "backend/backend.h"
#include "backend/cuda/convert.cuh"
#include "backend/cuda/families.h"

namespace dragoman::cuda {
namespace {

void fill(const Tensor& y, double value) {
  const auto Y = view<float>(y);
  const auto number = float(value);
  each_element(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) { Y(n, d) = number; });
}

// For small tables that the host has computed.
void copy_from_host(const Tensor& y, const Tensor& x) {
  const Tensor values = y.on_host();
  for_dtype(x.dtype(), [&]<class S>() {
    const auto Y = values.view<float>();
    const auto X = x.view<S>();
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = float(X(n, d));
  });
  y.assign(values);
}

void copy(const Tensor& y, const Tensor& x) {
  if (!x.memory() && !x.mirror()) return copy_from_host(y, x);
  for_factor(y.dtype(), [&]<class T>() { convert<T>(y, x); });
}

void add(const Tensor& y, const Tensor& x, double factor) {
  const auto Y = view<float>(y);
  const auto X = view<const float>(x);
  const auto f = float(factor);
  each_element(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) { Y(n, d) += f * X(n, d); });
}

}  // namespace

void install_elementwise(Backend& b) {
  b.fill = fill;
  b.copy = copy;
  b.add = add;
}

}  // namespace dragoman::cuda
