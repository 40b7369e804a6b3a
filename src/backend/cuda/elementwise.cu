#include "backend/backend.h"
#include "backend/cuda/copy.h"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"

namespace dragoman::cuda {
namespace {

void fill(const Tensor& y, double value) {
  const Values Y(y);
  const bool wide = in_fours(Y);
  const auto number = float(value);
  const Four four{{number, number, number, number}};
  each_four(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) { store_four(Y, n, d, wide, four); });
}

// For small tables that the host has computed.
void copy_from_host(const Tensor& y, const Tensor& x) {
  const Tensor values = y.contiguous() ? y.room_on_host() : y.on_host();  // between rows nothing may change
  for_factor(y.dtype(), [&]<class T>() {
    for_stored(x.dtype(), [&]<class S>() {
      const auto Y = values.view<T>();
      const auto X = x.view<S>();
      for (int64_t n = 0; n < Y.rows; ++n)
        for (int64_t d = 0; d < Y.cols; ++d) Y(n, d) = T(float(X(n, d)));
    });
  });
  y.assign(values);
}

}  // namespace

void copy(const Tensor& y, const Tensor& x) {
  if (!x.memory() && !x.mirror()) return copy_from_host(y, x);
  const Values Y(y), X(x);
  const bool wide = in_fours(Y) && in_fours(X);
  each_four(Y.rows, Y.cols,
            [=] __device__(int64_t n, int64_t d) { store_four(Y, n, d, wide, load_four(X, n, d, wide)); });
}

namespace {

void add(const Tensor& y, const Tensor& x, double factor) {
  const Values Y(y), X(x);
  const bool wide = in_fours(Y) && in_fours(X);
  const auto f = float(factor);
  each_four(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) {
    Four sum = load_four(Y, n, d, wide);
    const Four more = load_four(X, n, d, wide);
    for (int j = 0; j < 4; ++j) sum.at[j] += f * more.at[j];
    store_four(Y, n, d, wide, sum);
  });
}

}  // namespace

void install_elementwise(Backend& b) {
  b.fill = fill;
  b.copy = copy;
  b.add = add;
}

}  // namespace dragoman::cuda
