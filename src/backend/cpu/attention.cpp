#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention.cpp"
#include <hwy/foreach_target.h>
//
#include <cmath>
#include <limits>

#include "backend/attention.h"
#include "backend/cpu/attention_scratch.h"
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// Transposes four rows of x starting at row j: columns become rows of four at `to`.
HWY_INLINE void TransposeFour(float* to, int64_t stride, View<const float> x, int64_t j) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  HWY_ALIGN float fours[4 * HWY_MAX_BYTES / sizeof(float)];
  for (int64_t c = 0; c < x.cols; c += L) {
    const int64_t count = std::min(L, x.cols - c);
    const auto row = [&](int64_t r) { return LoadN(d, x.row(j + r) + c, count); };
    hn::StoreInterleaved4(row(0), row(1), row(2), row(3), d, fours);
    for (int64_t i = 0; i < count; ++i) std::copy_n(fours + 4 * i, 4, to + (c + i) * stride);
  }
}

// Transposed copy of x: out (cols, stride), zero-padded, so that scores of adjacent keys are adjacent and no sum runs
// across a vector. Zeroing everything first takes one long fill instead of one per column.
void TransposeInto(float* out, int64_t stride, View<const float> x) {
  std::fill_n(out, x.cols * stride, 0.0f);
  int64_t j = 0;
  for (; j + 4 <= x.rows; j += 4) TransposeFour(out + j, stride, x, j);
  for (; j < x.rows; ++j)
    for (int64_t c = 0; c < x.cols; ++c) out[c * stride + j] = x(j, c);
}

// A matrix read element by element: row r, column k is `at[r * row + k * step]`.
struct Scattered {
  const float* at;
  int64_t row, step;
};

// Four rows, of which `rows` exist, × P vectors of out = or += a · b (K rows starting at b). Each element is one chain
// of multiply-adds in the order of k. The last vector has `last` elements.
template <int P>
HWY_INLINE void FourRows(View<float> out, const Scattered& a, int64_t rows, const float* b, int64_t b_stride, int64_t K,
                         int64_t last, bool adds) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  const float* of_row[4];
  for (int64_t r = 0; r < 4; ++r) of_row[r] = a.at + std::min(r, rows - 1) * a.row;
  VF sums[4][P];
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(d);
  for (int64_t k = 0; k < K; ++k) {
    VF x[P];
    for (int p = 0; p < P; ++p) {
      const float* from = b + k * b_stride + p * L;
      x[p] = p + 1 < P ? hn::LoadU(d, from) : LoadN(d, from, last);
    }
    for (int r = 0; r < 4; ++r)
      for (int p = 0; p < P; ++p) sums[r][p] = hn::MulAdd(hn::Set(d, of_row[r][k * a.step]), x[p], sums[r][p]);
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int p = 0; p < P; ++p) {
      float* const to = out.row(r) + p * L;
      const int64_t count = p + 1 < P ? L : last;
      StoreN(adds ? hn::Add(LoadN(d, to, count), sums[r][p]) : sums[r][p], d, to, count);
    }
}

// out (rows,cols) = or += a (rows,K) · b (K,cols)
void Product(View<float> out, const Scattered& a, View<const float> b, bool adds) {
  const int64_t L = hn::Lanes(F32());
  for (int64_t c = 0; c < out.cols;) {
    const int64_t left = out.cols - c;
    for (int64_t i = 0; i < out.rows; i += 4) {
      const View<float> part{out.row(i) + c, 4, left, out.stride};
      const Scattered own{a.at + i * a.row, a.row, a.step};
      const int64_t rows = std::min<int64_t>(4, out.rows - i);
      if (left > L)
        FourRows<2>(part, own, rows, b.row(0) + c, b.stride, b.rows, std::min(L, left - L), adds);
      else
        FourRows<1>(part, own, rows, b.row(0) + c, b.stride, b.rows, left, adds);
    }
    c += 2 * L;
  }
}

// Columns `of` of out (rows,stride), and those up to the next multiple of 16, = a · t (cols,stride).
void TimesTransposed(float* out, View<const float> a, const float* t, int64_t stride, Range of) {
  const int64_t columns = padded_keys(of.end) - of.begin;
  Product({out + of.begin, a.rows, columns, stride}, {a.data, a.stride, 1}, {t + of.begin, a.cols, columns, stride},
          false);
}

// out = or += w (rows,stride) · b
void WeightedSum(View<float> out, const float* w, int64_t stride, View<const float> b, bool adds) {
  Product(out, {w, stride, 1}, b, adds);
}

// out += wᵀ · b: w (b.rows,stride)
void AddTransposedSum(View<float> out, const float* w, int64_t stride, View<const float> b) {
  Product(out, {w, 1, stride}, b, true);
}

float DotProduct(const float* a, const float* b, int64_t n) {
  const F32 d;
  VF sum = hn::Zero(d);
  for (int64_t i = 0; i < n; i += int64_t(hn::Lanes(d)))
    sum = hn::MulAdd(LoadN(d, a + i, n - i), LoadN(d, b + i, n - i), sum);
  return Sum(d, sum);
}

// Columns `of` of out (rows,stride): w · tanh(a_i + t_j).
void AdditiveScores(float* out, View<const float> a, const float* t, int64_t stride, Range of, const float* w) {
  const F32 d;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = of.begin; j < of.end; j += int64_t(hn::Lanes(d))) {
      VF sum = hn::Zero(d);
      for (int64_t c = 0; c < a.cols; ++c)
        sum = hn::MulAdd(hn::Set(d, w[c]), Tanh(hn::Add(hn::Set(d, a(i, c)), hn::LoadU(d, t + c * stride + j))), sum);
      hn::StoreU(sum, d, out + i * stride + j);
    }
}

// Backward from ds (rows,stride), which is 0 for masked keys: dq = or += …, key_gradients (K,stride) and dw +=.
void AdditiveBackward(View<float> dq, bool dq_adds, float* key_gradients, float* dw, View<const float> q,
                      const float* keys, const float* w, const float* ds, int64_t stride, Range of) {
  const F32 d;
  for (int64_t i = 0; i < q.rows; ++i)
    for (int64_t c = 0; c < q.cols; ++c) {
      VF to_q = hn::Zero(d), to_w = hn::Zero(d);
      for (int64_t j = of.begin; j < of.end; j += int64_t(hn::Lanes(d))) {
        const VF t = Tanh(hn::Add(hn::Set(d, q(i, c)), hn::LoadU(d, keys + c * stride + j)));
        const VF s = hn::LoadU(d, ds + i * stride + j), slope = hn::Mul(s, hn::NegMulAdd(t, t, hn::Set(d, 1.0f)));
        float* to_k = key_gradients + c * stride + j;
        hn::StoreU(hn::MulAdd(hn::Set(d, w[c]), slope, hn::LoadU(d, to_k)), d, to_k);
        to_q = hn::Add(to_q, slope);
        to_w = hn::MulAdd(s, t, to_w);
      }
      if (dq) dq(i, c) = w[c] * Sum(d, to_q) + (dq_adds ? dq(i, c) : 0);
      if (dw) dw[c] += Sum(d, to_w);
    }
}

// Scores of a head's q and k for a block of queries.
void RawScores(const AttentionHead& h, int64_t first, int64_t count, const AttentionScratch& scratch, Range of) {
  const auto q = rows_of(h.q, first, count);
  if (h.additive()) {
    AdditiveScores(scratch.weights, q, scratch.keys, scratch.stride, of, h.vector());
  } else {
    TimesTransposed(scratch.weights, q, scratch.keys, scratch.stride, of);
  }
}

// Calls f(j, j - i clipped to ±R) for each key; within R, adjacent keys have adjacent distances.
template <class F>
HWY_INLINE void ByDistance(Range keys, int64_t i, int64_t R, const F& f) {
  const int64_t near = std::clamp(i - R, keys.begin, keys.end), far = std::clamp(i + R + 1, near, keys.end);
  for (int64_t j = keys.begin; j < near; ++j) f(j, -R);
  for (int64_t j = near; j < far; ++j) f(j, j - i);
  for (int64_t j = far; j < keys.end; ++j) f(j, R);
}

// Scores become scale · (score + bias), or -inf for masked keys.
void FinishScores(float* s, const AttentionHead& h, int64_t i, Range of) {
  const F32 d;
  const Range seen = h.a.shape.visible.keys(i, h.k.rows);
  if (h.a.bias)
    ByDistance(seen, i, h.reach(h.a.bias),
               [s, bias = h.bias(h.a.bias, i)](int64_t j, int64_t distance) { s[j] += bias[distance]; });
  for (int64_t j = of.begin; j < of.end; j += int64_t(hn::Lanes(d)))
    hn::StoreU(hn::Mul(hn::LoadU(d, s + j), hn::Set(d, h.scale())), d, s + j);
  constexpr float hidden = -std::numeric_limits<float>::infinity();
  if (seen.begin < seen.end) {
    std::fill(s + of.begin, s + seen.begin, hidden);
    std::fill(s + seen.end, s + padded_keys(of.end), hidden);
  } else {
    std::fill(s + of.begin, s + padded_keys(of.end), hidden);
  }
}

// s becomes exp(s - lse), 0 for masked keys.
void Weights(float* s, Range of, float lse) {
  const F32 d;
  for (int64_t j = of.begin; j < of.end; j += int64_t(hn::Lanes(d)))
    hn::StoreU(ExpOfNegative(hn::Sub(hn::LoadU(d, s + j), hn::Set(d, lse))), d, s + j);
}

float LogSumExp(const float* s, Range of) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  VF tops = hn::Set(d, -std::numeric_limits<float>::infinity()), sums = hn::Zero(d);
  for (int64_t j = of.begin; j < of.end; j += L) tops = hn::Max(tops, hn::LoadU(d, s + j));
  const float top = Max(d, tops);
  if (top <= std::numeric_limits<float>::lowest()) return 0;  // sees no key
  for (int64_t j = of.begin; j < of.end; j += L)
    sums = hn::Add(sums, ExpOfNegative(hn::Sub(hn::LoadU(d, s + j), hn::Set(d, top))));
  return top + std::log(Sum(d, sums));
}

// Dropout factors of one query's keys; `factors` holds whole groups of 128.
void MaskFactors(float* factors, const Mask& mask, const int32_t* position, Range of) {
  for (int64_t from = of.begin / 128 * 128; from < of.end; from += 128)
    MaskGroup(mask, position[0], position[1], uint32_t(from / 128), factors + from);
}

// sums[distance] += s[j] for the keys that query i sees.
void AddByDistance(float* sums, int64_t R, const float* s, const AttentionHead& h, int64_t i) {
  ByDistance(h.seen(i), i, R, [&](int64_t j, int64_t distance) { sums[distance] += s[j]; });
}

void SumByDistance(const AttentionHead& h, int64_t i, const float* s) {
  float* sums = h.by_distance(h.a.by_distance, i);
  const int64_t R = h.reach(h.a.by_distance);
  std::fill(sums - R, sums + R + 1, 0.0f);
  AddByDistance(sums, R, s, h, i);
}

// One head of one sentence, in blocks of queries whose weights stay in L1. Skips keys that are masked for a whole
// block.
void AttendHead(View<float> y, float* weights, const AttentionHead& h, AttentionScratch scratch) {
  const F32 d;
  const int64_t stride = scratch.stride;
  const Dropout& dropout = h.a.shape.dropout;
  const Mask mask = MaskOf(dropout, dropout.op * 4096 + uint32_t(h.head));
  TransposeInto(scratch.keys, stride, h.k);
  for (int64_t first = 0; first < h.q.rows; first += query_block) {
    const int64_t count = std::min(query_block, h.q.rows - first);
    const Range of = h.keys_of_block(first, count);
    RawScores(h, first, count, scratch, of);
    for (int64_t i = 0; i < count; ++i) {
      float* s = scratch.weights + i * stride;
      FinishScores(s, h, first + i, of);
      const float log_sum = LogSumExp(s, of);
      h.a.lse.view<float>()(h.row + first + i, h.head) = log_sum;
      Weights(s, of, log_sum);
      if (weights) {
        float* out = weights + (first + i) * h.k.rows;
        std::fill_n(out, h.k.rows, 0.0f);
        std::copy(s + of.begin, s + of.end, out + of.begin);
      }
      if (!dropout.active()) continue;
      MaskFactors(scratch.factors, mask, h.position(first + i), of);
      for (int64_t j = of.begin; j < of.end; j += int64_t(hn::Lanes(d)))
        hn::StoreU(hn::Mul(hn::LoadU(d, s + j), hn::LoadU(d, scratch.factors + j)), d, s + j);
    }
    if (h.a.by_distance)
      for (int64_t i = 0; i < count; ++i) SumByDistance(h, first + i, scratch.weights + i * stride);
    WeightedSum(rows_of(y, first, count), scratch.weights + of.begin, stride, rows_of(h.v, of.begin, of.end - of.begin),
                false);
  }
}

// ds (query,key) from dp = dy · v, in place, and p, which becomes p · mask: as the reference's attend_backward.
void ScoreGradients(float* ds, float* p, const float* factors, float c, float scale, Range of) {
  for (int64_t j = of.begin; j < of.end; ++j) {
    ds[j] = p[j] * (ds[j] * factors[j] - c) * scale;
    p[j] *= factors[j];
  }
}

// As the reference's attend_backward, with p and ds of a block of queries held as matrices.
void AttendHeadBackward(const HeadGradients& g, View<const float> dy, View<const float> y, const AttentionHead& h,
                        AttentionScratch scratch) {
  const int64_t stride = scratch.stride;
  const Dropout& dropout = h.a.shape.dropout;
  const Mask mask = MaskOf(dropout, dropout.op * 4096 + uint32_t(h.head));
  std::fill_n(scratch.factors, (stride + 127) / 128 * 128, 1.0f);
  TransposeInto(scratch.keys, stride, h.k);
  TransposeInto(scratch.values, stride, h.v);
  if (h.additive()) std::fill_n(scratch.key_gradients, h.q.cols * stride, 0.0f);
  for (int64_t first = 0; first < h.q.rows; first += query_block) {
    const int64_t count = std::min(query_block, h.q.rows - first);
    const Range of = h.keys_of_block(first, count);
    const auto q = rows_of(h.q, first, count), dy_block = rows_of(dy, first, count);
    RawScores(h, first, count, scratch, of);
    TimesTransposed(scratch.gradients, dy_block, scratch.values, stride, of);
    for (int64_t i = 0; i < count; ++i) {
      float *p = scratch.weights + i * stride, *ds = scratch.gradients + i * stride;
      FinishScores(p, h, first + i, of);
      Weights(p, of, h.a.lse.view<float>()(h.row + first + i, h.head));
      const float c = DotProduct(dy.row(first + i), y.row(first + i), y.cols);
      if (dropout.active()) MaskFactors(scratch.factors, mask, h.position(first + i), of);
      if (g.by_distance)
        ByDistance(h.seen(first + i), first + i, h.reach(g.by_distance),
                   [ds, add = h.by_distance(g.by_distance, first + i)](int64_t j, int64_t d) { ds[j] += add[d]; });
      ScoreGradients(ds, p, scratch.factors, c, h.scale(), {of.begin, padded_keys(of.end)});
      if (g.dbias) AddByDistance(h.bias(g.dbias, first + i), h.reach(g.dbias), ds, h, first + i);
    }
    const auto k = rows_of(h.k, of.begin, of.end - of.begin);
    const auto dq = g.dq ? rows_of(g.dq, first, count) : g.dq;
    if (h.additive()) {
      AdditiveBackward(dq, g.dq_adds, scratch.key_gradients, g.dvector, q, scratch.keys, h.vector(), scratch.gradients,
                       stride, of);
    } else {
      if (dq) WeightedSum(dq, scratch.gradients + of.begin, stride, k, g.dq_adds);
      if (g.dk) AddTransposedSum(rows_of(g.dk, of.begin, k.rows), scratch.gradients + of.begin, stride, q);
    }
    if (g.dv) AddTransposedSum(rows_of(g.dv, of.begin, k.rows), scratch.weights + of.begin, stride, dy_block);
  }
  if (h.additive() && g.dk)
    for (int64_t j = 0; j < g.dk.rows; ++j)
      for (int64_t c = 0; c < g.dk.cols; ++c) g.dk(j, c) += scratch.key_gradients[c * stride + j];
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(AttendHead);
HWY_EXPORT(AttendHeadBackward);

void zero(View<float> x) {
  for (int64_t n = 0; n < x.rows; ++n) std::fill_n(x.row(n), x.cols, 0.0f);
}

HeadRows rows_of_head(const AttentionKernels::Attention& a, int head, int thread) {
  return {thread_scratch(a, thread), head, a.shape.heads};
}

void attention(const AttentionKernels::Attention& a) {
  const auto attend = HWY_DYNAMIC_DISPATCH(AttendHead);
  const int heads = a.shape.heads;
  parallel_items(int64_t{a.shape.queries.sentences()} * heads, [&](int64_t item, int t) {
    const int s = int(item / heads), h = int(item % heads);
    const Range qs = a.shape.queries[s];
    HeadRows rows = rows_of_head(a, h, t);
    const AttentionHead head(a, s, rows);
    const View<float> y = rows.result(a.y, qs);
    float* weights = nullptr;
    if (a.weights) weights = a.weights.as<float>() + a.shape.pairs_before(s) * heads + h * head.q.rows * head.k.rows;
    attend(y, weights, head, scratch_of(rows.room, head));
    rows.write(a.y, qs, y);
  });
}

// dvector (H*K) = or += the sum of the sentences' contributions, in sentence order.
void add_up(Grad dvector, const float* parts, int sentences) {
  float* sum = dvector.tensor.as<float>();
  const int64_t n = dvector.tensor.elements();
  if (!dvector.adds()) std::fill_n(sum, n, 0.0f);
  for (int s = 0; s < sentences; ++s)
    for (int64_t i = 0; i < n; ++i) sum[i] += parts[s * n + i];
}

void attention_backward(const AttentionKernels::AttentionBackward& b) {
  const auto backward = HWY_DYNAMIC_DISPATCH(AttendHeadBackward);
  const AttentionKernels::Attention& a = b.forward;
  const int heads = a.shape.heads, sentences = a.shape.queries.sentences();
  // Others than floats are computed separately and added at the end.
  const auto in_place = [](const Grad& g) { return g && g.tensor.dtype() == DType::f32; };
  // If queries and keys are the same values, dk is added to rows of dq whose block is not processed yet.
  const bool shared = b.dq && (b.dq.tensor.data() == b.dk.tensor.data() || b.dq.tensor.data() == b.dv.tensor.data());
  const bool dq_adds = in_place(b.dq) && (b.dq.adds() || shared);
  float* vectors = vector_gradients(a.scratch, a.shape, a.q.cols() / heads, a.v.cols() / heads);
  if (b.dbias && !b.dbias.adds()) zero(b.dbias.tensor.view<float>());
  if (b.dscore_vector) std::fill_n(vectors, sentences * a.q.cols(), 0.0f);
  parallel_items(int64_t{sentences} * heads, [&](int64_t item, int t) {
    const int s = int(item / heads), h = int(item % heads);
    const Range qs = a.shape.queries[s], ks = a.shape.keys[s];
    HeadRows rows = rows_of_head(a, h, t);
    const AttentionHead head(a, s, rows);
    const auto dy = as_const(rows.read(b.dy, qs)), y = as_const(rows.read(a.y, qs));
    const HeadGradients g{rows.result(b.dq.tensor, qs),
                          rows.result(b.dk.tensor, ks),
                          rows.result(b.dv.tensor, ks),
                          b.dbias.tensor,
                          b.dscore_vector ? vectors + s * a.q.cols() + h * head.q.cols : nullptr,
                          dq_adds,
                          b.dby_distance};
    if (dq_adds && !b.dq.adds()) zero(g.dq);
    if (g.dk && !(in_place(b.dk) && b.dk.adds())) zero(g.dk);
    if (g.dv && !(in_place(b.dv) && b.dv.adds())) zero(g.dv);
    backward(g, dy, y, head, scratch_of(rows.room, head));
    rows.write(b.dq.tensor, qs, g.dq, b.dq.mode);
    rows.write(b.dk.tensor, ks, g.dk, b.dk.mode);
    rows.write(b.dv.tensor, ks, g.dv, b.dv.mode);
  });
  if (b.dscore_vector) add_up(b.dscore_vector, vectors, sentences);
}

}  // namespace

void install_attention(AttentionKernels& b) {
  b.attention_scratch = attention_scratch_bytes;
  b.attention = attention;
  b.attention_backward = attention_backward;
}

}  // namespace dragoman::cpu
#endif
