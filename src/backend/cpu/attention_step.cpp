#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_step.cpp"
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

// One row and head of a step.
struct StepHead {
  const float* q;                 // (K)
  View<const float> k, v;         // (C,K) (C,V)
  const float* vector = nullptr;  // (K), additive only
  const float* bias = nullptr;    // at distance 0
  int64_t reach = 0;              // of the bias
  int64_t length = 0, place = 0;  // keys, and where the query stands among them
  Range seen = {};
  float scale = 1;
};

float RawScore(const StepHead& h, const float* key) {
  const F32 d;
  VF sum = hn::Zero(d);
  for (int64_t c = 0, n = h.k.cols; n > 0; c += int64_t(hn::Lanes(d)), n = h.k.cols - c) {
    const VF q = LoadN(d, h.q + c, n), k = LoadN(d, key + c, n);
    sum = h.vector ? hn::MulAdd(LoadN(d, h.vector + c, n), Tanh(hn::Add(q, k)), sum) : hn::MulAdd(q, k, sum);
  }
  return Sum(d, sum);
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
    VF e = hn::Exp(d, hn::Sub(LoadN(d, p + t, count - t), hn::Set(d, top)));
    if (count - t < L) e = hn::IfThenElseZero(hn::FirstN(d, count - t), e);
    sums = hn::Add(sums, e);
    StoreN(e, d, p + t, count - t);
  }
  const float share = count > 0 ? 1 / Sum(d, sums) : 0;
  for (int64_t c = 0; c < h.v.cols; c += L) {
    VF sum = hn::Zero(d);
    for (int64_t t = 0; t < count; ++t)
      sum = hn::MulAdd(hn::Set(d, p[t]), LoadN(d, h.v.row(row_of(h.seen.begin + t)) + c, h.v.cols - c), sum);
    StoreN(hn::Mul(sum, hn::Set(d, share)), d, y + c, h.v.cols - c);
  }
}

StepHead HeadOf(const Backend::AttentionStep& a, int64_t r, int head) {
  const auto columns = [&](const Tensor& x) {
    const auto all = x.view<const float>();
    const int64_t size = all.cols / a.heads;
    return View<const float>{all.data + head * size, all.rows, size, all.stride};
  };
  StepHead h{.q = columns(a.q).row(r), .k = columns(a.k), .v = columns(a.v)};
  if (a.score_vector) h.vector = a.score_vector.as<float>() + head * h.k.cols;
  h.length = a.keys.length.as<int32_t>()[r];
  h.place = a.keys.place ? a.keys.place.as<int32_t>()[r] : h.length - 1;
  h.seen = Visibility{.window = a.window}.keys(h.place, h.length);
  h.scale = float(score_scale(a.score, h.k.cols));
  if (a.bias) {
    h.bias =
        a.bias.view<const float>().row(DistanceBias::row(a.bias, r)) + DistanceBias::column(a.bias, a.heads, head, 0);
    h.reach = DistanceBias::reach(a.bias, a.heads);
  }
  return h;
}

void StepRow(const Backend::AttentionStep& a, int64_t r, float* p) {
  for (int head = 0; head < a.heads; ++head) {
    const StepHead h = HeadOf(a, r, head);
    float* y = a.y.view<float>().row(r) + head * h.v.cols;
    if (a.keys.table) {
      const int32_t* rows = a.keys.table.view<int32_t>().row(r);
      AttendStep(
          y, h, [&](int64_t t) { return rows[t]; }, p);
    } else {
      const int64_t begin = a.keys.begin.as<int32_t>()[r];
      AttendStep(
          y, h, [&](int64_t t) { return begin + t; }, p);
    }
  }
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
    for (int64_t r = rows.begin; r < rows.end; ++r) row(a, r, static_cast<float*>(a.scratch.data()) + t * each);
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
