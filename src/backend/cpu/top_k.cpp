#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/top_k.cpp"
#include <hwy/foreach_target.h>
//
#include <cmath>
#include <limits>

#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// Keeps (value, id) sorted, best first; equal values stay in the order they came, so the lower id wins.
HWY_INLINE void Insert(float* values, int32_t* ids, int64_t k, float value, int32_t id) {
  int64_t at = k - 1;
  for (; at > 0 && values[at - 1] < value; --at) {
    values[at] = values[at - 1];
    ids[at] = ids[at - 1];
  }
  values[at] = value;
  ids[at] = id;
}

// A vector is looked into only when one of its lanes beats the worst value kept: after the first few, seldom.
void TopK(float* values, int32_t* ids, const float* z, int64_t V, int64_t k) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  std::fill_n(values, k, -std::numeric_limits<float>::infinity());
  std::fill_n(ids, k, 0);
  int64_t v = 0;
  for (; v + L <= V; v += L) {
    const VF x = hn::LoadU(d, z + v);
    if (hn::AllFalse(d, hn::Gt(x, hn::Set(d, values[k - 1])))) continue;
    for (int64_t i = v; i < v + L; ++i)
      if (z[i] > values[k - 1]) Insert(values, ids, k, z[i], int32_t(i));
  }
  for (; v < V; ++v)
    if (z[v] > values[k - 1]) Insert(values, ids, k, z[v], int32_t(v));
}

// log Σ exp(z), whose largest is `top`.
float LogSumExp(const float* z, int64_t V, float top) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  VF sums = hn::Zero(d);
  int64_t v = 0;
  for (; v + L <= V; v += L) sums = hn::Add(sums, hn::Exp(d, hn::Sub(hn::LoadU(d, z + v), hn::Set(d, top))));
  float sum = Sum(d, sums);
  for (; v < V; ++v) sum += std::exp(z[v] - top);
  return top + std::log(sum);
}

// Comparisons pass over a NaN.
bool HasNaN(const float* z, int64_t V) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  VF sound = hn::Zero(d);  // is equal to itself as long as there was none
  int64_t v = 0;
  for (; v + L <= V; v += L) {
    const VF x = hn::LoadU(d, z + v);
    sound = hn::IfThenElse(hn::Eq(x, x), sound, x);
  }
  bool found = !hn::AllTrue(d, hn::Eq(sound, sound));
  for (; v < V; ++v) found |= std::isnan(z[v]);
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(TopK);
HWY_EXPORT(LogSumExp);
HWY_EXPORT(HasNaN);

void top_k(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
  const auto Z = logits.view<const float>();
  const auto best = HWY_DYNAMIC_DISPATCH(TopK);
  const auto log_sum_exp = HWY_DYNAMIC_DISPATCH(LogSumExp);
  const auto has_nan = HWY_DYNAMIC_DISPATCH(HasNaN);
  parallel_blocks(Z.rows, 1, [&](Range rows, int) {
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      float* own = values.view<float>().row(r);
      best(own, ids.view<int32_t>().row(r), Z.row(r), Z.cols, values.cols());
      if (lse)
        lse.as<float>()[r] = log_sum_exp(Z.row(r), Z.cols, own[0]);
      else if (has_nan(Z.row(r), Z.cols))
        own[0] = std::numeric_limits<float>::quiet_NaN();
    }
  });
}

}  // namespace

void install_top_k(Backend& b) { b.top_k = top_k; }

}  // namespace dragoman::cpu
#endif
