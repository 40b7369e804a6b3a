#include <cmath>

#include "backend/gradient_scale.h"
#include "backend/optimizer.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

template <class F>
double reduce(const Tensor& x, F f) {
  double total = 0;
  for_dtype(x.dtype(), [&]<class T>() {
    const auto X = x.view<T>();
    for (int64_t n = 0; n < X.rows; ++n)
      for (int64_t d = 0; d < X.cols; ++d) total += f(double(X(n, d)));
  });
  return total;
}

// Kingma & Ba 2015, algorithm 1, with decoupled weight decay (Loshchilov & Hutter 2019).
template <class T>
void adam_tensor(const AdamTensor& t, const AdamStep& s, T gradient_scale) {
  const auto P = t.parameter.view<T>(), G = t.gradient.view<T>(), M = t.first_moment.view<T>(),
             V = t.second_moment.view<T>();
  for (int64_t n = 0; n < P.rows; ++n)
    for (int64_t d = 0; d < P.cols; ++d) {
      const T g = G(n, d) * gradient_scale;
      M(n, d) = T(s.beta1) * M(n, d) + T(1 - s.beta1) * g;
      V(n, d) = T(s.beta2) * V(n, d) + T(1 - s.beta2) * g * g;
      const T m = M(n, d) / T(s.correction1), v = V(n, d) / T(s.correction2);
      P(n, d) -= T(s.rate) * (m / (std::sqrt(v) + T(s.epsilon)) + T(s.weight_decay) * P(n, d));
    }
}

void adam(std::span<const AdamTensor> tensors, const AdamStep& step, const AdamTotals& totals) {
  const double scale =
      gradient_scale(step.target_tokens, step.clip_norm, *totals.loss.as<double>(), *totals.squares.as<double>());
  if (std::isnan(scale)) return;
  for (const AdamTensor& t : tensors)
    for_dtype(t.parameter.dtype(), [&]<class T>() { adam_tensor<T>(t, step, T(scale)); });
}

// average += weight · (x - average)
void moving_average(const Tensor& average, const Tensor& x, double weight) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto A = average.view<T>(), X = x.view<T>();
    for (int64_t n = 0; n < X.rows; ++n)
      for (int64_t d = 0; d < X.cols; ++d) A(n, d) += T(weight) * (X(n, d) - A(n, d));
  });
}

}  // namespace

void install_optimizer(OptimizerKernels& b) {
  b.sum = [](Grad total, const Tensor& x) {
    double& sum = *total.tensor.as<double>();
    sum = (total.adds() ? sum : 0) + reduce(x, [](double v) { return v; });
  };
  b.sum_of_squares = [](const Tensor& total, std::span<const Tensor> tensors) {
    double& sum = *total.as<double>() = 0;
    for (const Tensor& x : tensors) sum += reduce(x, [](double v) { return v * v; });
  };
  b.adam = adam;
  b.moving_average = moving_average;
}

}  // namespace dragoman::reference
