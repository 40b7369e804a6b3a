#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention.cpp"
#include <hwy/foreach_target.h>
//
#include <cmath>
#include <limits>

#include "backend/cpu/attention_scratch.h"
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// Transposed copy of n rows of x: out (cols, stride), zeros behind column n, so that scores of neighbouring keys are
// neighbours and no sum runs across a vector.
void TransposeInto(float* out, int64_t stride, View<const float> x) {
  for (int64_t j = 0; j < x.rows; ++j)
    for (int64_t c = 0; c < x.cols; ++c) out[c * stride + j] = x(j, c);
  for (int64_t c = 0; c < x.cols; ++c) std::fill(out + c * stride + x.rows, out + (c + 1) * stride, 0.0f);
}

// out (rows,stride) = a (rows,cols) · t (cols,stride): four rows at a time, each vector of t loaded once for them.
void TimesTransposed(float* out, View<const float> a, const float* t, int64_t stride) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  for (int64_t i = 0; i < a.rows; i += 4) {
    const float* row[4];
    for (int64_t r = 0; r < 4; ++r) row[r] = a.row(std::min(i + r, a.rows - 1));
    for (int64_t j = 0; j < stride; j += L) {
      VF s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      for (int64_t c = 0; c < a.cols; ++c) {
        const VF column = hn::LoadU(d, t + c * stride + j);
        s0 = hn::MulAdd(hn::Set(d, row[0][c]), column, s0);
        s1 = hn::MulAdd(hn::Set(d, row[1][c]), column, s1);
        s2 = hn::MulAdd(hn::Set(d, row[2][c]), column, s2);
        s3 = hn::MulAdd(hn::Set(d, row[3][c]), column, s3);
      }
      const VF sums[] = {s0, s1, s2, s3};
      for (int64_t r = 0; r < std::min<int64_t>(4, a.rows - i); ++r) hn::StoreU(sums[r], d, out + (i + r) * stride + j);
    }
  }
}

// out (rows of w,cols) (+)= w (rows,stride) · b (b.rows,cols): a row of b is loaded once for four rows of out.
void WeightedSum(View<float> out, const float* w, int64_t stride, View<const float> b, bool adds) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  for (int64_t i = 0; i < out.rows; i += 4) {
    const float* weight[4];
    for (int64_t r = 0; r < 4; ++r) weight[r] = w + std::min(i + r, out.rows - 1) * stride;
    for (int64_t c = 0; c < out.cols; c += L) {
      VF s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      for (int64_t j = 0; j < b.rows; ++j) {
        const VF x = LoadN(d, b.row(j) + c, out.cols - c);
        s0 = hn::MulAdd(hn::Set(d, weight[0][j]), x, s0);
        s1 = hn::MulAdd(hn::Set(d, weight[1][j]), x, s1);
        s2 = hn::MulAdd(hn::Set(d, weight[2][j]), x, s2);
        s3 = hn::MulAdd(hn::Set(d, weight[3][j]), x, s3);
      }
      const VF sums[] = {s0, s1, s2, s3};
      for (int64_t r = 0; r < std::min<int64_t>(4, out.rows - i); ++r) {
        float* place = out.row(i + r) + c;
        StoreN(adds ? hn::Add(sums[r], LoadN(d, place, out.cols - c)) : sums[r], d, place, out.cols - c);
      }
    }
  }
}

// out (columns of w,cols) += wᵀ · b: w (b.rows,stride).
void AddTransposedSum(View<float> out, const float* w, int64_t stride, View<const float> b) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  for (int64_t j = 0; j < out.rows; ++j)
    for (int64_t c = 0; c < out.cols; c += L) {
      const int64_t n = out.cols - c;
      VF sum = LoadN(d, out.row(j) + c, n);
      for (int64_t i = 0; i < b.rows; ++i)
        sum = hn::MulAdd(hn::Set(d, w[i * stride + j]), LoadN(d, b.row(i) + c, n), sum);
      StoreN(sum, d, out.row(j) + c, n);
    }
}

// Scores become scale · score + bias, or -inf where the query does not see the key.
void FinishScores(float* s, int64_t keys, int64_t stride, float scale, const Visibility& visible, int head, int64_t i) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  for (int64_t j = 0; j < stride; j += L) hn::StoreU(hn::Mul(hn::LoadU(d, s + j), hn::Set(d, scale)), d, s + j);
  const Range seen = visible.keys(i, keys);
  if (visible.bias)
    for (int64_t j = seen.begin; j < seen.end; ++j) s[j] += visible.bias.view<float>()(head, visible.bias_column(i, j));
  std::fill(s, s + seen.begin, -std::numeric_limits<float>::infinity());
  std::fill(s + seen.end, s + stride, -std::numeric_limits<float>::infinity());
}

// s becomes exp(s - lse); hidden keys become 0.
void Weights(float* s, int64_t stride, float lse) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  const VF lowest = hn::Set(d, -80.0f);
  for (int64_t j = 0; j < stride; j += L) {
    const VF x = hn::Sub(hn::LoadU(d, s + j), hn::Set(d, lse));
    hn::StoreU(hn::IfThenElseZero(hn::Gt(x, lowest), hn::Exp(d, hn::Max(x, lowest))), d, s + j);
  }
}

float LogSumExp(const float* s, int64_t stride) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  VF tops = hn::Set(d, -std::numeric_limits<float>::infinity()), sums = hn::Zero(d);
  for (int64_t j = 0; j < stride; j += L) tops = hn::Max(tops, hn::LoadU(d, s + j));
  const float top = Max(d, tops);
  if (top == -std::numeric_limits<float>::infinity()) return 0;  // sees no key
  const VF lowest = hn::Set(d, -80.0f);
  for (int64_t j = 0; j < stride; j += L) {
    const VF x = hn::Sub(hn::LoadU(d, s + j), hn::Set(d, top));
    sums = hn::Add(sums, hn::IfThenElseZero(hn::Gt(x, lowest), hn::Exp(d, hn::Max(x, lowest))));
  }
  return top + std::log(Sum(d, sums));
}

// p · mask for one query; `factors` holds `stride` rounded up to 128.
void MaskWeights(float* p, int64_t stride, const Mask& mask, const int32_t* place, float* factors) {
  const F32 d;
  for (int64_t from = 0; from < stride; from += 128)
    MaskGroup(mask, place[0], place[1], uint32_t(from / 128), factors + from);
  for (int64_t j = 0; j < stride; j += int64_t(hn::Lanes(d)))
    hn::StoreU(hn::Mul(hn::LoadU(d, p + j), hn::LoadU(d, factors + j)), d, p + j);
}

// One head of one sentence, in blocks of queries whose weights stay in L1.
void AttendHead(View<float> y, View<float> lse, View<const float> q, View<const float> k, View<const float> v,
                const AttentionShape& a, const HeadPlace& at, AttentionScratch scratch) {
  const int64_t stride = scratch.stride;
  const float scale = float(AttentionShape::scale(q.cols));
  const Mask mask = MaskOf(a.dropout, a.dropout.op * 4096 + uint32_t(at.head));
  TransposeInto(scratch.keys, stride, k);
  for (int64_t first = 0; first < q.rows; first += query_block) {
    const int64_t count = std::min(query_block, q.rows - first);
    TimesTransposed(scratch.weights, rows_of(q, first, count), scratch.keys, stride);
    for (int64_t i = 0; i < count; ++i) {
      float* s = scratch.weights + i * stride;
      FinishScores(s, k.rows, stride, scale, a.visible, at.head, first + i);
      const float log_sum = LogSumExp(s, stride);
      lse(at.row + first + i, at.head) = log_sum;
      Weights(s, stride, log_sum);
      if (a.dropout.active())
        MaskWeights(s, stride, mask, a.dropout.places.view<int32_t>().row(at.row + first + i), scratch.factors);
    }
    WeightedSum(rows_of(y, first, count), scratch.weights, stride, v, false);
  }
}

// As the reference's attend_backward, with p and ds of a block of queries held as matrices.
void AttendHeadBackward(const HeadGradients& g, View<const float> q, View<const float> k, View<const float> v,
                        View<const float> y, View<const float> dy, View<const float> lse, const AttentionShape& a,
                        const HeadPlace& at, AttentionScratch scratch) {
  const int64_t stride = scratch.stride;
  const float scale = float(AttentionShape::scale(q.cols));
  const Mask mask = MaskOf(a.dropout, a.dropout.op * 4096 + uint32_t(at.head));
  std::fill_n(scratch.factors, (stride + 127) / 128 * 128, 1.0f);
  TransposeInto(scratch.keys, stride, k);
  TransposeInto(scratch.values, stride, v);
  for (int64_t first = 0; first < q.rows; first += query_block) {
    const int64_t count = std::min(query_block, q.rows - first);
    const auto q_block = rows_of(q, first, count), dy_block = rows_of(dy, first, count);
    TimesTransposed(scratch.weights, q_block, scratch.keys, stride);
    TimesTransposed(scratch.gradients, dy_block, scratch.values, stride);
    for (int64_t i = 0; i < count; ++i) {
      float *p = scratch.weights + i * stride, *ds = scratch.gradients + i * stride;
      FinishScores(p, k.rows, stride, scale, a.visible, at.head, first + i);
      Weights(p, stride, lse(at.row + first + i, at.head));
      float c = 0;
      for (int64_t e = 0; e < y.cols; ++e) c += dy(first + i, e) * y(first + i, e);
      if (a.dropout.active()) {
        const int32_t* place = a.dropout.places.view<int32_t>().row(at.row + first + i);
        for (int64_t from = 0; from < stride; from += 128)
          MaskGroup(mask, place[0], place[1], uint32_t(from / 128), scratch.factors + from);
      }
      for (int64_t j = 0; j < stride; ++j) {
        ds[j] = p[j] * (ds[j] * scratch.factors[j] - c) * scale;
        p[j] *= scratch.factors[j];
      }
    }
    if (g.dq) WeightedSum(rows_of(g.dq, first, count), scratch.gradients, stride, k, g.dq_adds);
    if (g.dk) AddTransposedSum(g.dk, scratch.gradients, stride, q_block);
    if (g.dv) AddTransposedSum(g.dv, scratch.weights, stride, dy_block);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(AttendHead);
HWY_EXPORT(AttendHeadBackward);

template <class T>
View<T> head_of(View<T> x, Range rows, int head, int heads) {
  if (!x) return {};
  const int64_t size = x.cols / heads;
  return {x.row(rows.begin) + head * size, rows.end - rows.begin, size, x.stride};
}

void zero(View<float> x) {
  for (int64_t n = 0; n < x.rows; ++n) std::fill_n(x.row(n), x.cols, 0.0f);
}

void attention(const Tensor& y, const Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionShape& a, const Tensor& scratch) {
  const auto head = HWY_DYNAMIC_DISPATCH(AttendHead);
  parallel_items(int64_t{a.queries.sentences()} * a.heads, [&](int64_t item, int t) {
    const int s = int(item / a.heads), h = int(item % a.heads);
    const Range qs = a.queries[s], ks = a.keys[s];
    head(head_of(y.view<float>(), qs, h, a.heads), lse.view<float>(), head_of(q.view<const float>(), qs, h, a.heads),
         head_of(k.view<const float>(), ks, h, a.heads), head_of(v.view<const float>(), ks, h, a.heads), a,
         {h, qs.begin}, scratch_of(scratch, t, a, q.cols() / a.heads, v.cols() / a.heads, ks.end - ks.begin));
  });
}

void attention_backward(const Backend::AttentionBackward& b) {
  const auto head = HWY_DYNAMIC_DISPATCH(AttendHeadBackward);
  const AttentionShape& a = b.shape;
  // One value as query and key: dk comes to rows of dq whose block has not had its turn.
  const bool shared = b.dq && (b.dq.tensor.data() == b.dk.tensor.data() || b.dq.tensor.data() == b.dv.tensor.data());
  parallel_items(int64_t{a.queries.sentences()} * a.heads, [&](int64_t item, int t) {
    const int s = int(item / a.heads), h = int(item % a.heads);
    const Range qs = a.queries[s], ks = a.keys[s];
    const HeadGradients g{head_of(b.dq.tensor.view<float>(), qs, h, a.heads),
                          head_of(b.dk.tensor.view<float>(), ks, h, a.heads),
                          head_of(b.dv.tensor.view<float>(), ks, h, a.heads), b.dq.adds() || shared};
    if (shared && !b.dq.adds()) zero(g.dq);
    if (g.dk && !b.dk.adds()) zero(g.dk);
    if (g.dv && !b.dv.adds()) zero(g.dv);
    head(g, head_of(b.q.view<const float>(), qs, h, a.heads), head_of(b.k.view<const float>(), ks, h, a.heads),
         head_of(b.v.view<const float>(), ks, h, a.heads), head_of(b.y.view<const float>(), qs, h, a.heads),
         head_of(b.dy.view<const float>(), qs, h, a.heads), b.lse.view<const float>(), a, {h, qs.begin},
         scratch_of(b.scratch, t, a, b.q.cols() / a.heads, b.v.cols() / a.heads, ks.end - ks.begin));
  });
}

}  // namespace

void install_attention(Backend& b) {
  b.attention_scratch = attention_scratch_bytes;
  b.attention = attention;
  b.attention_backward = attention_backward;
}

}  // namespace dragoman::cpu
#endif
