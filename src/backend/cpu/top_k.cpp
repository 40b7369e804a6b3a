#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/top_k.cpp"
#include <hwy/foreach_target.h>
//
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/rows.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// Keeps (value, id) sorted, best first; equal values keep their order of arrival, so the lower id wins.
HWY_INLINE void Insert(float* values, int32_t* ids, int64_t k, float value, int32_t id) {
  int64_t at = k - 1;
  for (; at > 0 && values[at - 1] < value; --at) {
    values[at] = values[at - 1];
    ids[at] = ids[at - 1];
  }
  values[at] = value;
  ids[at] = id;
}

// Inserts the numbers starting at z[v] whose bit is set, if they still belong to the best.
HWY_NOINLINE void Take(float* values, int32_t* ids, int64_t k, const float* z, int64_t v, uint64_t which) {
  for (; which; which &= which - 1) {
    const int64_t i = v + std::countr_zero(which);
    if (z[i] > values[k - 1]) Insert(values, ids, k, z[i], int32_t(i));
  }
}

template <class Mask>
HWY_INLINE uint64_t Bits(Mask mask) {
  static_assert(HWY_MAX_BYTES / sizeof(float) <= 64);
  HWY_ALIGN uint8_t bytes[8] = {};
  hn::StoreMaskBits(F32(), mask, bytes);
  uint64_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// Reads a row once. A vector is examined only if one of its lanes beats the worst value kept, which is rare after the
// first few. A new maximum is found there too; the sums are then rescaled relative to it.
// Returns log Σ exp(z) if requested, else the maximum, or NaN if there is one.
template <bool log_sum_exp>
float Scan(float* values, int32_t* ids, const float* z, int64_t V, int64_t k) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  const VF never = hn::Set(d, -std::numeric_limits<float>::infinity());
  std::fill_n(values, k, hn::GetLane(never));
  std::fill_n(ids, k, 0);
  VF worst = never, top = hn::Set(d, std::numeric_limits<float>::lowest());
  VF sums = hn::Zero(d), sound = hn::Zero(d);  // Σ exp(z - top); equal to itself unless there was a NaN
  for (int64_t v = 0; v < V; v += L) {
    const int64_t count = std::min(L, V - v);
    VF x = LoadN(d, z + v, count);
    if (count < L) x = hn::IfThenElse(hn::FirstN(d, size_t(count)), x, never);
    if (const auto better = hn::Gt(x, worst); !hn::AllFalse(d, better)) {
      Take(values, ids, k, z, v, Bits(better));
      worst = hn::Set(d, values[k - 1]);
      const VF before = std::exchange(top, hn::Max(top, hn::Set(d, values[0])));
      if (log_sum_exp) sums = hn::Mul(sums, ExpOfNegative(hn::Sub(before, top)));
    }
    if (log_sum_exp)
      sums = hn::Add(sums, ExpOfNegative(hn::Sub(x, top)));
    else
      sound = hn::IfThenElse(hn::Eq(x, x), sound, x);
  }
  if (log_sum_exp) return hn::GetLane(top) + std::log(Sum(d, sums));
  return hn::AllTrue(d, hn::Eq(sound, sound)) ? values[0] : std::numeric_limits<float>::quiet_NaN();
}

float ScanSumming(float* values, int32_t* ids, const float* z, int64_t V, int64_t k) {
  return Scan<true>(values, ids, z, V, k);
}
float ScanPlain(float* values, int32_t* ids, const float* z, int64_t V, int64_t k) {
  return Scan<false>(values, ids, z, V, k);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(ScanSumming);
HWY_EXPORT(ScanPlain);

void top_k(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
  const auto Z = logits.view<const float>();
  const auto scan = lse ? HWY_DYNAMIC_DISPATCH(ScanSumming) : HWY_DYNAMIC_DISPATCH(ScanPlain);
  parallel_blocks(Z.rows, 1, [&](Range rows, int) {
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      float* best = values.view<float>().row(r);
      (lse ? lse.as<float>()[r] : best[0]) = scan(best, ids.view<int32_t>().row(r), Z.row(r), Z.cols, values.cols());
    }
  });
}

}  // namespace

void install_top_k(RowKernels& b) { b.top_k = top_k; }

}  // namespace dragoman::cpu
#endif
