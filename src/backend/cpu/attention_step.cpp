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

// One query, one head: y (V) = softmax(q · kᵀ / √K) · v over `length` keys whose rows `row_of` names. `p` holds length.
template <class RowOf>
HWY_INLINE void StepHead(float* y, const float* q, View<const float> k, View<const float> v, int64_t key_size,
                         int64_t value_size, int64_t length, RowOf row_of, float* p) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  const float scale = float(AttentionShape::scale(key_size));
  float top = -std::numeric_limits<float>::infinity();
  for (int64_t t = 0; t < length; ++t) {
    const float* key = k.row(row_of(t));
    VF dot = hn::Zero(d);
    for (int64_t c = 0; c < key_size; c += L)
      dot = hn::MulAdd(LoadN(d, q + c, key_size - c), LoadN(d, key + c, key_size - c), dot);
    p[t] = Sum(d, dot) * scale;
    top = std::max(top, p[t]);
  }
  VF sums = hn::Zero(d);
  for (int64_t t = 0; t < length; t += L) {
    VF e = hn::Exp(d, hn::Sub(LoadN(d, p + t, length - t), hn::Set(d, top)));
    if (length - t < L) e = hn::IfThenElseZero(hn::FirstN(d, length - t), e);
    sums = hn::Add(sums, e);
    StoreN(e, d, p + t, length - t);
  }
  const VF share = hn::Set(d, length > 0 ? 1 / Sum(d, sums) : 0);
  for (int64_t c = 0; c < value_size; c += L) {
    VF sum = hn::Zero(d);
    for (int64_t t = 0; t < length; ++t)
      sum = hn::MulAdd(hn::Set(d, p[t]), LoadN(d, v.row(row_of(t)) + c, value_size - c), sum);
    StoreN(hn::Mul(sum, share), d, y + c, value_size - c);
  }
}

void StepRow(View<float> Y, View<const float> Q, View<const float> K, View<const float> V, const StepKeys& keys,
             int heads, int64_t r, float* p) {
  const int64_t key_size = Q.cols / heads, value_size = V.cols / heads, length = keys.length.as<int32_t>()[r];
  for (int h = 0; h < heads; ++h) {
    float* y = Y.row(r) + h * value_size;
    const float* q = Q.row(r) + h * key_size;
    const View<const float> k{K.data + h * key_size, K.rows, key_size, K.stride};
    const View<const float> v{V.data + h * value_size, V.rows, value_size, V.stride};
    if (keys.table) {
      const int32_t* rows = keys.table.view<int32_t>().row(r);
      StepHead(
          y, q, k, v, key_size, value_size, length, [&](int64_t t) { return rows[t]; }, p);
    } else {
      const int64_t begin = keys.begin.as<int32_t>()[r];
      StepHead(
          y, q, k, v, key_size, value_size, length, [&](int64_t t) { return begin + t; }, p);
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

void attention_step(const Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v, const StepKeys& keys, int heads,
                    const Tensor& scratch) {
  const auto row = HWY_DYNAMIC_DISPATCH(StepRow);
  const int64_t each = scratch.bytes() / int64_t{sizeof(float)} / thread_count();
  parallel_blocks(q.rows(), 8, [&](Range rows, int t) {
    for (int64_t r = rows.begin; r < rows.end; ++r)
      row(y.view<float>(), q.view<const float>(), k.view<const float>(), v.view<const float>(), keys, heads, r,
          static_cast<float*>(scratch.data()) + t * each);
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
