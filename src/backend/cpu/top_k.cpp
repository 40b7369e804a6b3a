#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/top_k.cpp"
#include <hwy/foreach_target.h>
//
#include <algorithm>
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

// From this k on, insertion into a sorted list costs more than a heap, whose root is the worst value.
constexpr int64_t heap_from = 64;

// Puts (value, id) at the root of a heap of n numbers that lacks one.
HWY_INLINE void SiftDown(float* values, int32_t* ids, int64_t n, float value, int32_t id) {
  const auto worse = [&](int64_t a, float b, int32_t b_id) {
    return values[a] < b || (values[a] == b && ids[a] > b_id);
  };
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && worse(child + 1, values[child], ids[child])) ++child;
    if (!worse(child, value, id)) break;
    values[at] = values[child];
    ids[at] = ids[child];
  }
  values[at] = value;
  ids[at] = id;
}

// Makes a heap a sorted list, best first.
HWY_NOINLINE void SortHeap(float* values, int32_t* ids, int64_t k) {
  for (int64_t n = k - 1; n > 0; --n) {
    const float value = std::exchange(values[n], values[0]);
    const int32_t id = std::exchange(ids[n], ids[0]);
    SiftDown(values, ids, n, value, id);
  }
}

// Inserts the numbers starting at z[v] whose bit is set, if they still belong to the best. Returns the largest number.
HWY_NOINLINE float Take(float* values, int32_t* ids, int64_t k, const float* z, int64_t v, uint64_t which) {
  for (; which; which &= which - 1) {
    const int64_t i = v + std::countr_zero(which);
    if (z[i] > values[k - 1]) Insert(values, ids, k, z[i], int32_t(i));
  }
  return values[0];
}

// The same for a heap, whose largest number so far is `largest`.
HWY_NOINLINE float TakeIntoHeap(float* values, int32_t* ids, int64_t k, const float* z, int64_t v, uint64_t which,
                                float largest) {
  for (; which; which &= which - 1) {
    const int64_t i = v + std::countr_zero(which);
    if (z[i] > values[0]) SiftDown(values, ids, k, z[i], int32_t(i));
    largest = std::max(largest, z[i]);
  }
  return largest;
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
  const bool heap = k >= heap_from;
  float largest = hn::GetLane(never);
  for (int64_t v = 0; v < V; v += L) {
    const int64_t count = std::min(L, V - v);
    VF x = LoadN(d, z + v, count);
    if (count < L) x = hn::IfThenElse(hn::FirstN(d, size_t(count)), x, never);
    if (const auto better = hn::Gt(x, worst); !hn::AllFalse(d, better)) {
      largest =
          heap ? TakeIntoHeap(values, ids, k, z, v, Bits(better), largest) : Take(values, ids, k, z, v, Bits(better));
      worst = hn::Set(d, values[heap ? 0 : k - 1]);
      const VF before = std::exchange(top, hn::Max(top, hn::Set(d, largest)));
      if (log_sum_exp) sums = hn::Mul(sums, ExpOfNegative(hn::Sub(before, top)));
    }
    if (log_sum_exp)
      sums = hn::Add(sums, ExpOfNegative(hn::Sub(x, top)));
    else
      sound = hn::IfThenElse(hn::Eq(x, x), sound, x);
  }
  if (heap) SortHeap(values, ids, k);
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
