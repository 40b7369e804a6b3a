#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_step.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
//
#include <cmath>
#include <limits>

#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// One row and head of a step.
struct StepHead {
  const float* q;                 // (K)
  View<const float> k, v;         // (C,K) (C,V)
  const float* vector = nullptr;  // (K), additive only
  const float* bias = nullptr;    // at distance 0
  int64_t reach = 0;              // of the bias
  int64_t place = 0;              // where the query stands among its keys
  Range seen = {};
  float scale = 1;
};

// q · key, or vector · tanh(q + key).
HWY_INLINE float RawScore(const StepHead& h, const float* key) {
  const F32 d;
  VF sum = hn::Zero(d);
  for (int64_t c = 0, n = h.k.cols; n > 0; c += int64_t(hn::Lanes(d)), n = h.k.cols - c) {
    const VF q = LoadN(d, h.q + c, n), k = LoadN(d, key + c, n);
    sum = h.vector ? hn::MulAdd(LoadN(d, h.vector + c, n), Tanh(hn::Add(q, k)), sum) : hn::MulAdd(q, k, sum);
  }
  return Sum(d, sum);
}

// N vectors of y from column c on: share · Σ p · v.
template <int N, class RowOf>
HWY_INLINE void WeightedSum(float* y, const StepHead& h, int64_t c, int64_t count, RowOf row_of, const float* p,
                            float share) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  VF sums[N];
#pragma GCC unroll 4  // else GCC 12 keeps the sums in memory
  for (int i = 0; i < N; ++i) sums[i] = hn::Zero(d);
  for (int64_t t = 0; t < count; ++t) {
    const float* v = h.v.row(row_of(h.seen.begin + t)) + c;
    const VF weight = hn::Set(d, p[t]);
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) sums[i] = hn::MulAdd(weight, hn::LoadU(d, v + i * L), sums[i]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) hn::StoreU(hn::Mul(sums[i], hn::Set(d, share)), d, y + c + i * L);
}

// The same for columns that fill no vector.
template <class RowOf>
HWY_INLINE void WeightedRest(float* y, const StepHead& h, int64_t c, int64_t count, RowOf row_of, const float* p,
                             float share) {
  const F32 d;
  VF sum = hn::Zero(d);
  for (int64_t t = 0; t < count; ++t)
    sum = hn::MulAdd(hn::Set(d, p[t]), LoadN(d, h.v.row(row_of(h.seen.begin + t)) + c, h.v.cols - c), sum);
  StoreN(hn::Mul(sum, hn::Set(d, share)), d, y + c, h.v.cols - c);
}

// y (V) = softmax(scores) · v over the keys whose rows `row_of` names. `p` has room for as many as are seen.
template <class RowOf>
HWY_INLINE void AttendStep(float* y, const StepHead& h, RowOf row_of, float* p) {
  const F32 d;
  const int64_t L = hn::Lanes(d), count = h.seen.end - h.seen.begin;
  float top = -std::numeric_limits<float>::infinity();
  for (int64_t t = 0; t < count; ++t) {
    const int64_t key = h.seen.begin + t;
    p[t] = RawScore(h, h.k.row(row_of(key)));
    if (h.bias) p[t] += h.bias[std::clamp(key - h.place, -h.reach, h.reach)];
    p[t] *= h.scale;
    top = std::max(top, p[t]);
  }
  VF sums = hn::Zero(d);
  for (int64_t t = 0; t < count; t += L) {
    VF e = ExpOfNegative(hn::Sub(LoadN(d, p + t, count - t), hn::Set(d, top)));
    if (count - t < L) e = hn::IfThenElseZero(hn::FirstN(d, count - t), e);
    sums = hn::Add(sums, e);
    StoreN(e, d, p + t, count - t);
  }
  const float share = count > 0 ? 1 / Sum(d, sums) : 0;
  int64_t c = 0;
  for (; c + 4 * L <= h.v.cols; c += 4 * L) WeightedSum<4>(y, h, c, count, row_of, p, share);
  for (; c + 2 * L <= h.v.cols; c += 2 * L) WeightedSum<2>(y, h, c, count, row_of, p, share);
  for (; c + L <= h.v.cols; c += L) WeightedSum<1>(y, h, c, count, row_of, p, share);
  if (c < h.v.cols) WeightedRest(y, h, c, count, row_of, p, share);
}

StepHead HeadOf(const Backend::AttentionStep& a, int64_t r, int head, Range seen) {
  const auto columns = [&](const Tensor& x) {
    const auto all = x.view<const float>();
    const int64_t size = all.cols / a.heads;
    return View<const float>{all.data + head * size, all.rows, size, all.stride};
  };
  StepHead h{.q = columns(a.q).row(r), .k = columns(a.k), .v = columns(a.v)};
  if (a.score_vector) h.vector = a.score_vector.as<float>() + head * h.k.cols;
  h.place = a.keys.place ? a.keys.place.as<int32_t>()[r] : a.keys.length.as<int32_t>()[r] - 1;
  h.seen = seen;
  h.scale = float(score_scale(a.score, h.k.cols));
  if (a.bias) {
    h.bias =
        a.bias.view<const float>().row(DistanceBias::row(a.bias, r)) + DistanceBias::column(a.bias, a.heads, head, 0);
    h.reach = DistanceBias::reach(a.bias, a.heads);
  }
  return h;
}

template <class RowOf>
HWY_INLINE void FetchKeys(const Backend::AttentionStep& a, Range keys, RowOf row_of) {
  constexpr int64_t line = 64 / sizeof(float);
  const auto k = a.k.view<const float>(), v = a.v.view<const float>();
  for (int64_t t = keys.begin; t < keys.end; ++t) {
    for (int64_t c = 0; c < k.cols; c += line) hwy::Prefetch(k.row(row_of(t)) + c);
    for (int64_t c = 0; c < v.cols; c += line) hwy::Prefetch(v.row(row_of(t)) + c);
  }
}

// Calls f(keys, row_of) with the keys that row r sees and where they lie.
template <class F>
HWY_INLINE void WithKeys(const Backend::AttentionStep& a, int64_t r, const F& f) {
  const int64_t length = a.keys.length.as<int32_t>()[r];
  const Range seen =
      Visibility{.window = a.window}.keys(a.keys.place ? a.keys.place.as<int32_t>()[r] : length - 1, length);
  if (a.keys.table) {
    const int32_t* rows = a.keys.table.view<int32_t>().row(r);
    f(seen, [rows](int64_t t) { return rows[t]; });
  } else {
    const int64_t begin = a.keys.begin.as<int32_t>()[r];
    f(seen, [begin](int64_t t) { return begin + t; });
  }
}

// Hypotheses of one sentence look at its keys one after the other.
bool KeysOfRowBefore(const StepKeys& keys, int64_t r) {
  return !keys.table && keys.begin.as<int32_t>()[r] == keys.begin.as<int32_t>()[r - 1];
}

// Keys lie far apart, where no hardware expects them, and mostly not in the nearest caches. So those of the next row
// are asked for while this one is computed.
void StepRow(const Backend::AttentionStep& a, int64_t r, bool last, float* p) {
  constexpr int64_t fetched = 32;  // keys that the nearest cache holds beside those in use
  if (!last && !KeysOfRowBefore(a.keys, r + 1))
    WithKeys(a, r + 1, [&](Range keys, auto row_of) {
      FetchKeys(a, {keys.begin, std::min(keys.end, keys.begin + fetched)}, row_of);
    });
  WithKeys(a, r, [&](Range seen, auto row_of) {
    for (int head = 0; head < a.heads; ++head) {
      const StepHead h = HeadOf(a, r, head, seen);
      AttendStep(a.y.view<float>().row(r) + head * h.v.cols, h, row_of, p);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(StepRow);

int64_t scratch_floats(int64_t longest) { return (longest + 31) / 16 * 16; }

void attention_step(const Backend::AttentionStep& a) {
  const auto row = HWY_DYNAMIC_DISPATCH(StepRow);
  const int64_t each = a.scratch.bytes() / int64_t{sizeof(float)} / thread_count();
  parallel_blocks(a.q.rows(), 8, [&](Range rows, int t) {
    for (int64_t r = rows.begin; r < rows.end; ++r)
      row(a, r, r + 1 == rows.end, static_cast<float*>(a.scratch.data()) + t * each);
  });
}

}  // namespace

void install_attention_step(Backend& b) {
  b.attention_step_scratch = [](int64_t longest) {
    return thread_count() * scratch_floats(longest) * int64_t{sizeof(float)};
  };
  b.attention_step = attention_step;
}

}  // namespace dragoman::cpu
#endif
