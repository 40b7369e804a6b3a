#include <cmath>

#include "backend/cuda/device.cuh"
#include "backend/cuda/families.h"

namespace dragoman::cuda {
namespace {

constexpr unsigned partial_sums = 256;

struct Itself {
  __device__ double operator()(double x) const { return x; }
};
struct Squared {
  __device__ double operator()(double x) const { return x * x; }
};

// Sums in f64, in an order fixed by the sizes: each block has its share of elements, then one block adds what they
// have.
template <class F>
__global__ void sum_kernel(View<const float> x, double* sums, F f) {
  const int64_t all = x.rows * x.cols;
  double sum = 0;
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < all; i += int64_t{gridDim.x} * blockDim.x)
    sum += f(x(i / x.cols, i % x.cols));
  sum = block_reduce(sum, 0.0, Plus{});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void total_kernel(const double* sums, double* total) {
  const double sum = block_reduce(sums[threadIdx.x], 0.0, Plus{});
  if (threadIdx.x == 0) *total = sum;
}

template <class F>
double reduce(const Tensor& x, F f) {
  const auto memory = piece((partial_sums + 1) * sizeof(double));
  auto* sums = static_cast<double*>(memory.get());
  launch(sum_kernel<F>, dim3(partial_sums), dim3(threads_per_block), 0, view<const float>(x), sums, f);
  launch(total_kernel, dim3(1), dim3(partial_sums), 0, sums, sums + partial_sums);
  return downloaded<double>(sums + partial_sums);
}

/// Several tensors of one launch; a block works on one of them.
struct AdamTensors {
  static constexpr int most = 32;
  struct One {
    float *parameter, *first_moment, *second_moment;
    const float* gradient;
    int64_t elements;
  };
  One tensors[most];
  unsigned first_block[most + 1];  // of each tensor, and how many there are
  int count;
};

struct AdamRates {
  float rate, beta1, beta2, epsilon, weight_decay, correction1, correction2, gradient_scale;
};

constexpr int64_t elements_per_block = 8 * threads_per_block;

// Kingma & Ba 2015, algorithm 1, with decoupled weight decay (Loshchilov & Hutter 2019).
__global__ void adam_kernel(AdamTensors a, AdamRates s) {
  int which = 0;
  while (blockIdx.x >= a.first_block[which + 1]) ++which;
  const AdamTensors::One& t = a.tensors[which];
  const int64_t from = int64_t{blockIdx.x - a.first_block[which]} * elements_per_block;
  for (int64_t i = from + threadIdx.x; i < from + elements_per_block && i < t.elements; i += blockDim.x) {
    const float g = t.gradient[i] * s.gradient_scale;
    const float first = t.first_moment[i] = s.beta1 * t.first_moment[i] + (1 - s.beta1) * g;
    const float second = t.second_moment[i] = s.beta2 * t.second_moment[i] + (1 - s.beta2) * g * g;
    const float m = first / s.correction1, v = second / s.correction2;
    t.parameter[i] -= s.rate * (m / (sqrtf(v) + s.epsilon) + s.weight_decay * t.parameter[i]);
  }
}

void adam(std::span<const AdamTensor> tensors, const AdamStep& step, double gradient_scale) {
  const AdamRates rates{float(step.rate),        float(step.beta1),        float(step.beta2),
                        float(step.epsilon),     float(step.weight_decay), float(step.correction1),
                        float(step.correction2), float(gradient_scale)};
  for (size_t from = 0; from < tensors.size(); from += AdamTensors::most) {
    AdamTensors some = {};
    for (const AdamTensor& t : tensors.subspan(from, std::min<size_t>(AdamTensors::most, tensors.size() - from))) {
      invariant(t.parameter.contiguous() && t.gradient.contiguous(), "parameters are whole rows");
      some.tensors[some.count] = {view<float>(t.parameter).data, view<float>(t.first_moment).data,
                                  view<float>(t.second_moment).data, view<const float>(t.gradient).data,
                                  t.parameter.elements()};
      some.first_block[some.count + 1] =
          some.first_block[some.count] + blocks_of(t.parameter.elements(), elements_per_block);
      ++some.count;
    }
    launch(adam_kernel, dim3(some.first_block[some.count]), dim3(threads_per_block), 0, some, rates);
  }
}

// average += weight · (x - average)
void moving_average(const Tensor& average, const Tensor& x, double weight) {
  const auto A = view<float>(average);
  const auto X = view<const float>(x);
  const auto w = float(weight);
  each_element(X.rows, X.cols, [=] __device__(int64_t n, int64_t d) { A(n, d) += w * (X(n, d) - A(n, d)); });
}

}  // namespace

void install_optimizer(Backend& b) {
  b.sum = [](const Tensor& x) { return reduce(x, Itself{}); };
  b.sum_of_squares = [](const Tensor& x) { return reduce(x, Squared{}); };
  b.adam = adam;
  b.moving_average = moving_average;
}

}  // namespace dragoman::cuda
