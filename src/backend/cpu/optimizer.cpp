#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/optimizer.cpp"
#include <hwy/foreach_target.h>
//
#include <cmath>
#include <numeric>
#include <vector>

#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/gradient_scale.h"
#include "backend/optimizer.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

void AdamRange(const AdamTensor& t, const AdamStep& s, float gradient_scale, Range range) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  float *p = t.parameter.as<float>(), *g = t.gradient.as<float>(), *m = t.first_moment.as<float>(),
        *v = t.second_moment.as<float>();
  const VF scale = hn::Set(d, gradient_scale), b1 = hn::Set(d, float(s.beta1)), b2 = hn::Set(d, float(s.beta2)),
           c1 = hn::Set(d, float(1 - s.beta1)), c2 = hn::Set(d, float(1 - s.beta2)),
           rate = hn::Set(d, float(s.rate / s.correction1)), root = hn::Set(d, float(1 / std::sqrt(s.correction2))),
           eps = hn::Set(d, float(s.epsilon)), decay = hn::Set(d, float(s.weight_decay * s.correction1));
  for (int64_t i = range.begin; i < range.end; i += L) {
    const int64_t n = range.end - i;
    const VF gradient = hn::Mul(LoadN(d, g + i, n), scale);
    const VF first = hn::MulAdd(b1, LoadN(d, m + i, n), hn::Mul(c1, gradient));
    const VF second = hn::MulAdd(b2, LoadN(d, v + i, n), hn::Mul(c2, hn::Mul(gradient, gradient)));
    const VF step = hn::Div(first, hn::MulAdd(hn::Sqrt(second), root, eps));
    StoreN(first, d, m + i, n);
    StoreN(second, d, v + i, n);
    const VF before = LoadN(d, p + i, n);
    // In one sum, since 1 - rate · weight_decay often has no float beside 1.
    StoreN(hn::NegMulAdd(rate, hn::MulAdd(decay, before, step), before), d, p + i, n);
  }
}

void AverageRange(float* average, const float* x, float weight, Range range) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  for (int64_t i = range.begin; i < range.end; i += L) {
    const int64_t n = range.end - i;
    const VF a = LoadN(d, average + i, n);
    StoreN(hn::MulAdd(hn::Set(d, weight), hn::Sub(LoadN(d, x + i, n), a), a), d, average + i, n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(AdamRange);
HWY_EXPORT(AverageRange);

// One pass over parameter, gradient and both moments: 28 bytes per element.
void adam(std::span<const AdamTensor> tensors, const AdamStep& step, const AdamTotals& totals) {
  const double scale =
      gradient_scale(step.target_tokens, step.clip_norm, *totals.loss.as<double>(), *totals.squares.as<double>());
  if (std::isnan(scale)) return;
  const auto range_of = HWY_DYNAMIC_DISPATCH(AdamRange);
  for (const AdamTensor& t : tensors) {
    invariant(t.parameter.contiguous() && t.gradient.contiguous(), "adam takes contiguous tensors");
    parallel_blocks(t.parameter.elements(), 1024, [&](Range range, int) { range_of(t, step, float(scale), range); });
  }
}

void moving_average(const Tensor& average, const Tensor& x, double weight) {
  const auto range_of = HWY_DYNAMIC_DISPATCH(AverageRange);
  parallel_blocks(x.elements(), 1024,
                  [&](Range range, int) { range_of(average.as<float>(), x.as<float>(), float(weight), range); });
}

// In f64, as eight sums, which do not wait for each other.
template <class F>
double sum_of(std::span<const float> x, F f) {
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= x.size(); i += 8)
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += f(double(x[i + lane]));
  for (size_t lane = 0; i < x.size(); ++i, ++lane) sums[lane] += f(double(x[i]));
  return std::accumulate(std::begin(sums), std::end(sums), 0.0);
}

// Blocks of 4,096 elements are summed, and then the blocks in order: the same bits on any number of threads.
template <class F>
double reduce(const Tensor& x, F f) {
  invariant(x.contiguous(), "reductions take contiguous tensors");
  if (x.dtype() != DType::f32) fail("the cpu backend computes in F32, not in {}", x.dtype());
  constexpr size_t block = 4096;
  const std::span<const float> all(x.as<float>(), size_t(x.elements()));
  std::vector<double> sums((all.size() + block - 1) / block);
  parallel_blocks(int64_t(sums.size()), 1, [&](Range blocks, int) {
    for (size_t b = size_t(blocks.begin); b < size_t(blocks.end); ++b)
      sums[b] = sum_of(all.subspan(b * block, std::min(block, all.size() - b * block)), f);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

void install_optimizer(OptimizerKernels& b) {
  b.adam = adam;
  b.moving_average = moving_average;
  b.sum = [](Grad total, const Tensor& x) {
    double& sum = *total.tensor.as<double>();
    sum = (total.adds() ? sum : 0) + reduce(x, [](double v) { return v; });
  };
  b.sum_of_squares = [](const Tensor& total, std::span<const Tensor> tensors) {
    double& sum = *total.as<double>() = 0;
    for (const Tensor& x : tensors) sum += reduce(x, [](double v) { return v * v; });
  };
}

}  // namespace dragoman::cpu
#endif
