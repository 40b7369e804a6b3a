#include <algorithm>
#include <cmath>

#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"
#include "backend/gradient_scale.h"

namespace dragoman::cuda {
namespace {

// Sums in f64, in an order that depends only on sizes and alignment: each block sums its share, then one block adds
// these sums. A loop is unrolled only if its step is a constant; then several reads are under way.
__global__ void sum_kernel(View<const float> x, double* sums) {
  const int64_t all = x.rows * x.cols;
  double sum = 0;
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < all; i += int64_t{gridDim.x} * blockDim.x)
    sum += x(i / x.cols, i % x.cols);
  sum = block_reduce(sum, 0.0, Plus{});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void total_kernel(double* total, bool adds, const double* sums, int64_t count) {
  double sum = 0;
#pragma unroll 8
  for (int64_t i = threadIdx.x; i < count; i += threads_per_block) sum += sums[i];
  sum = block_reduce(sum, 0.0, Plus{});
  if (threadIdx.x == 0) *total = (adds ? *total : 0) + sum;
}

void add_up(const Grad& total, const double* sums, int64_t count) {
  launch(total_kernel, dim3(1), dim3(threads_per_block), 0, total.tensor.as<double>(), total.adds(), sums, count);
}

void sum(Grad total, const Tensor& x) {
  const unsigned blocks = std::clamp(blocks_of(x.elements(), threads_per_block), 1U, 256U);
  const auto memory = piece(blocks * sizeof(double));
  auto* sums = static_cast<double*>(memory.get());
  launch(sum_kernel, dim3(blocks), dim3(threads_per_block), 0, view<const float>(x), sums);
  add_up(total, sums, blocks);
}

/// Several vectors in one launch; each block works on one of them.
struct Vectors {
  static constexpr int most = 128;
  const float* data[most];
  int64_t elements[most];
  unsigned first_block[most + 1];  // of each vector, then the total
  int count;
};

/// Which of the vectors this block works on. With 128 of them, a search from the first one on would take longer than
/// reading a block's share.
template <class V>
__device__ int vector_of_block(const V& v) {
  int low = 0, high = v.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (v.first_block[middle] <= blockIdx.x ? low : high) = middle;
  }
  return low;
}

constexpr int64_t squares_per_block = 64 * threads_per_block;

__device__ void add_square(double& sum, double x) { sum += x * x; }

// The unrolled loop keeps several reads of 16 bytes under way.
__global__ void __launch_bounds__(threads_per_block) squares_kernel(Vectors v, double* sums) {
  const int which = vector_of_block(v);
  const int64_t from = int64_t{blockIdx.x - v.first_block[which]} * squares_per_block;
  const int64_t rest = v.elements[which] - from, count = rest < squares_per_block ? rest : squares_per_block;
  const float* const x = v.data[which] + from;
  double sum = 0;
  if (count == squares_per_block && in_fours({x, DType::f32})) {
    const Four* const fours = reinterpret_cast<const Four*>(x) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < squares_per_block / 4; i += threads_per_block) {
      const Four four = fours[i];
      for (const float one : four.at) add_square(sum, one);
    }
  } else {
#pragma unroll 8
    for (int64_t i = threadIdx.x; i < count; i += threads_per_block) add_square(sum, x[i]);
  }
  sum = block_reduce(sum, 0.0, Plus{});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void sum_of_squares(const Tensor& total, std::span<const Tensor> tensors) {
  int64_t blocks = 0;
  for (const Tensor& x : tensors) blocks += blocks_of(x.elements(), squares_per_block);
  const auto memory = piece(blocks * int64_t{sizeof(double)});
  auto* sums = static_cast<double*>(memory.get());
  int64_t done = 0;
  for (size_t from = 0; from < tensors.size(); from += Vectors::most) {
    Vectors some = {};
    for (const Tensor& x : tensors.subspan(from, std::min<size_t>(Vectors::most, tensors.size() - from))) {
      invariant(x.contiguous(), "reductions take contiguous tensors");
      some.data[some.count] = view<const float>(x).data;
      some.elements[some.count] = x.elements();
      some.first_block[some.count + 1] = some.first_block[some.count] + blocks_of(x.elements(), squares_per_block);
      ++some.count;
    }
    const unsigned here = some.first_block[some.count];
    launch(squares_kernel, dim3(here), dim3(threads_per_block), 0, some, sums + done);
    done += here;
  }
  add_up({total}, sums, blocks);
}

constexpr int64_t elements_per_block = 8 * threads_per_block;

/// Several tensors in one launch; each block works on one of them.
struct AdamTensors {
  static constexpr int most = 32;
  struct One {
    float *parameter, *first_moment, *second_moment;
    const float* gradient;
    int64_t elements;
    bool wide;  // whether all of them can be read in fours
  };
  One tensors[most];
  unsigned first_block[most + 1];  // of each tensor, then the total
  int count;
};

struct AdamRates {
  float rate, beta1, beta2, epsilon, weight_decay, correction1, correction2;
  double target_tokens, clip_norm;
};

// Kingma & Ba 2015, algorithm 1, with decoupled weight decay (Loshchilov & Hutter 2019). One thread per block computes
// the gradient scale: few GPUs are fast in f64.
__global__ void adam_kernel(AdamTensors a, AdamRates s, const double* loss, const double* squares) {
  __shared__ float scale;
  if (threadIdx.x == 0) scale = float(gradient_scale(s.target_tokens, s.clip_norm, *loss, *squares));
  __syncthreads();
  if (scale != scale) return;  // NaN: skip this update
  const int which = vector_of_block(a);
  const AdamTensors::One& t = a.tensors[which];
  const int64_t from = int64_t{blockIdx.x - a.first_block[which]} * elements_per_block;
  const int64_t end = from + elements_per_block < t.elements ? from + elements_per_block : t.elements;
  for (int64_t i = from + 4 * int64_t{threadIdx.x}; i < end; i += 4 * blockDim.x) {
    const Four gradient = load_four(t.gradient, i, end, t.wide);
    Four first = load_four(t.first_moment, i, end, t.wide), second = load_four(t.second_moment, i, end, t.wide);
    Four parameter = load_four(t.parameter, i, end, t.wide);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float g = gradient.at[j] * scale;
      first.at[j] = s.beta1 * first.at[j] + (1 - s.beta1) * g;
      second.at[j] = s.beta2 * second.at[j] + (1 - s.beta2) * g * g;
      const float m = first.at[j] / s.correction1, v = second.at[j] / s.correction2;
      parameter.at[j] -= s.rate * (m / (sqrtf(v) + s.epsilon) + s.weight_decay * parameter.at[j]);
    }
    store_four(t.first_moment, i, end, t.wide, first);
    store_four(t.second_moment, i, end, t.wide, second);
    store_four(t.parameter, i, end, t.wide, parameter);
  }
}

void adam(std::span<const AdamTensor> tensors, const AdamStep& step, const AdamTotals& totals) {
  const AdamRates rates{float(step.rate),        float(step.beta1),        float(step.beta2),
                        float(step.epsilon),     float(step.weight_decay), float(step.correction1),
                        float(step.correction2), step.target_tokens,       step.clip_norm};
  for (size_t from = 0; from < tensors.size(); from += AdamTensors::most) {
    AdamTensors some = {};
    for (const AdamTensor& t : tensors.subspan(from, std::min<size_t>(AdamTensors::most, tensors.size() - from))) {
      invariant(t.parameter.contiguous() && t.gradient.contiguous(), "parameters and gradients must be contiguous");
      AdamTensors::One& one = some.tensors[some.count];
      one = {view<float>(t.parameter).data, view<float>(t.first_moment).data, view<float>(t.second_moment).data,
             view<const float>(t.gradient).data, t.parameter.elements()};
      one.wide = std::ranges::all_of(
          std::initializer_list<const float*>{one.parameter, one.first_moment, one.second_moment, one.gradient},
          [](const float* data) {
            return in_fours({data, DType::f32});
          });
      some.first_block[some.count + 1] =
          some.first_block[some.count] + blocks_of(t.parameter.elements(), elements_per_block);
      ++some.count;
    }
    launch(adam_kernel, dim3(some.first_block[some.count]), dim3(threads_per_block), 0, some, rates,
           totals.loss.as<const double>(), totals.squares.as<const double>());
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
  b.sum = sum;
  b.sum_of_squares = sum_of_squares;
  b.adam = adam;
  b.moving_average = moving_average;
}

}  // namespace dragoman::cuda
