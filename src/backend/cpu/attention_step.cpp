#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_step.cpp"
#include <hwy/foreach_target.h>
//
#include <limits>

#include "backend/attention.h"
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/reference/decoding.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// A row of a step. All heads of a key are contiguous, and so are those of its values: each is read once, sequentially,
// four keys at a time.
struct StepRow {
  const float *q, *vector;  // (H*K), vector only of additive scores
  View<const float> k, v;   // (C,H*K) (C,H*V)
  Range seen;
  int heads;
  float* p;      // (H,room): scores, then weights
  int64_t room;  // a multiple of a vector

  int64_t count() const { return seen.end - seen.begin; }
};

#if HWY_TARGET != HWY_SCALAR
// p[0…3] are the sums of lanes 0, 4, 8 …, 1, 5, 9 … and so on.
template <class D>
HWY_INLINE void StoreSumOfBlocks(D d, hn::Vec<D> v, float* p) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    StoreSumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), p);
  } else {
    hn::StoreU(v, d, p);
  }
}
#endif

// p[i] is the sum of all lanes of sums[i].
HWY_INLINE void StoreSums(const VF (&sums)[4], float* p) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 4; ++i) p[i] = hn::GetLane(sums[i]);
#else
  const F32 d;
  const hn::RepartitionToWide<F32> pairs;
  const auto joined = [&](VF a, VF b) HWY_ATTR {
    return hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  };
  const auto first = joined(sums[0], sums[1]), second = joined(sums[2], sums[3]);
  StoreSumOfBlocks(d,
                   hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, first, second)),
                           hn::BitCast(d, hn::InterleaveUpper(pairs, first, second))),
                   p);
#endif
}

// Scores of one head with four keys: q · key, or vector · tanh(q + key).
template <bool additive>
HWY_INLINE void FourScores(const float* q, [[maybe_unused]] const float* vector, const float* const* keys, int64_t head,
                           int64_t K, float* p) {
  const F32 d;
  VF sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (int64_t c = head * K, n = K; n > 0; c += int64_t(hn::Lanes(d)), n -= int64_t(hn::Lanes(d))) {
    const VF x = LoadN(d, q + c, n);
    if constexpr (additive) {
      const VF w = LoadN(d, vector + c, n);
#pragma GCC unroll 4  // otherwise GCC 12 keeps the sums in memory
      for (int i = 0; i < 4; ++i) sums[i] = hn::MulAdd(w, Tanh(hn::Add(x, LoadN(d, keys[i] + c, n))), sums[i]);
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sums[i] = hn::MulAdd(x, LoadN(d, keys[i] + c, n), sums[i]);
    }
  }
  StoreSums(sums, p);
}

// The rows of x that hold four keys starting at the t-th; the last is repeated as padding.
template <class RowOf>
HWY_INLINE void FourRows(const float* (&rows)[4], View<const float> x, Range seen, int64_t t, RowOf row_of) {
  for (int64_t i = 0; i < 4; ++i) rows[i] = x.row(row_of(std::min(seen.begin + t + i, seen.end - 1)));
}

// p (H,count) = scores of the keys in the rows given by `row_of`, padded with arbitrary ones.
template <bool additive, class RowOf>
HWY_INLINE void Scores(const StepRow& r, RowOf row_of) {
  for (int64_t t = 0; t < r.count(); t += 4) {
    const float* keys[4];
    FourRows(keys, r.k, r.seen, t, row_of);
    for (int64_t head = 0; head < r.heads; ++head)
      FourScores<additive>(r.q, r.vector, keys, head, r.k.cols / r.heads, r.p + head * r.room + t);
  }
}

// p (count) = softmax(scale · p), zero-padded to a multiple of four.
HWY_INLINE void Softmax(float* p, int64_t count, float scale) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  const VF least = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto valid_lanes = [&](int64_t t) HWY_ATTR { return hn::FirstN(d, std::min(L, count - t)); };
  VF tops = least, sums = hn::Zero(d);
  for (int64_t t = 0; t < count; t += L) {
    const VF x = hn::IfThenElse(valid_lanes(t), hn::Mul(hn::LoadU(d, p + t), hn::Set(d, scale)), least);
    tops = hn::Max(tops, x);
    hn::StoreU(x, d, p + t);
  }
  const VF top = hn::MaxOfLanes(d, tops);
  for (int64_t t = 0; t < count; t += L) {
    const VF e = hn::IfThenElseZero(valid_lanes(t), ExpOfNegative(hn::Sub(hn::LoadU(d, p + t), top)));
    sums = hn::Add(sums, e);
    hn::StoreU(e, d, p + t);
  }
  for (int64_t t = count; L < 4 && t % 4 != 0; ++t) p[t] = 0;  // wider vectors have done this already
  const VF share = hn::Div(hn::Set(d, 1), hn::SumOfLanes(d, sums));
  for (int64_t t = 0; t < count; t += L) hn::StoreU(hn::Mul(hn::LoadU(d, p + t), share), d, p + t);
}

// y (H*V) += Σ p · v over four keys starting at the t-th.
HWY_INLINE void AddFourValues(float* y, const StepRow& r, int64_t t, const float* const* v) {
  const F32 d;
  const int64_t V = r.v.cols / r.heads;
  const float *v0 = v[0], *v1 = v[1], *v2 = v[2], *v3 = v[3];
  for (int64_t head = 0; head < r.heads; ++head) {
    const float* p = r.p + head * r.room + t;
    const VF p0 = hn::Set(d, p[0]), p1 = hn::Set(d, p[1]), p2 = hn::Set(d, p[2]), p3 = hn::Set(d, p[3]);
    for (int64_t c = head * V, n = V; n > 0; c += int64_t(hn::Lanes(d)), n -= int64_t(hn::Lanes(d))) {
      VF sum = LoadN(d, y + c, n);
      sum = hn::MulAdd(p0, LoadN(d, v0 + c, n), sum);
      sum = hn::MulAdd(p1, LoadN(d, v1 + c, n), sum);
      sum = hn::MulAdd(p2, LoadN(d, v2 + c, n), sum);
      sum = hn::MulAdd(p3, LoadN(d, v3 + c, n), sum);
      StoreN(sum, d, y + c, n);
    }
  }
}

// y (H*V) = softmax(scores) · v, of row n, whose query is at `position` among its keys.
template <class RowOf>
HWY_INLINE void Attend(const AttentionKernels::AttentionStep& a, int64_t n, int64_t position, const StepRow& r,
                       RowOf row_of) {
  const int64_t count = r.count();
  const auto scale = float(score_scale(a.score, r.k.cols / r.heads));
  if (r.vector)
    Scores<true>(r, row_of);
  else
    Scores<false>(r, row_of);
  for (int head = 0; head < r.heads; ++head) {
    float* p = r.p + head * r.room;
    if (a.bias) {
      const float* bias =
          a.bias.view<const float>().row(DistanceBias::row(a.bias, n)) + DistanceBias::column(a.bias, r.heads, head, 0);
      const int64_t reach = DistanceBias::reach(a.bias, r.heads);
      for (int64_t t = 0; t < count; ++t) p[t] += bias[std::clamp(r.seen.begin + t - position, -reach, reach)];
    }
    Softmax(p, count, scale);
    if (!a.by_distance) continue;
    const int64_t reach = DistanceBias::reach(a.by_distance, r.heads);
    float* sums = a.by_distance.view<float>().row(n) + DistanceBias::column(a.by_distance, r.heads, head, 0);
    std::fill(sums - reach, sums + reach + 1, 0.0f);
    for (int64_t t = 0; t < count; ++t) sums[std::clamp(r.seen.begin + t - position, -reach, reach)] += p[t];
  }
  float* y = a.y.view<float>().row(n);
  std::fill_n(y, r.v.cols, 0.0f);
  for (int64_t t = 0; t < count; t += 4) {
    const float* values[4];
    FourRows(values, r.v, r.seen, t, row_of);
    AddFourValues(y, r, t, values);
  }
}

void AttendRow(const AttentionKernels::AttentionStep& a, int64_t n, float* p, int64_t room) {
  const int64_t length = a.keys.length.as<int32_t>()[n];
  const int64_t position = a.keys.position ? a.keys.position.as<int32_t>()[n] : length - 1;
  const StepRow r{.q = a.q.view<const float>().row(n),
                  .vector = a.score_vector ? a.score_vector.as<float>() : nullptr,
                  .k = a.k.view<const float>(),
                  .v = a.v.view<const float>(),
                  .seen = Visibility{.window = a.window}.keys(position, length),
                  .heads = a.heads,
                  .p = p,
                  .room = room};
  if (a.keys.table) {
    const int32_t* rows = a.keys.table.view<int32_t>().row(n);
    Attend(a, n, position, r, [rows](int64_t t) { return rows[t]; });
  } else {
    const int64_t begin = a.keys.begin.as<int32_t>()[n];
    Attend(a, n, position, r, [begin](int64_t t) { return begin + t; });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(AttendRow);

// Whole vectors of any target, 16 numbers at most.
int64_t room_for(int64_t longest) { return (longest + 15) / 16 * 16; }

// There are no vector kernels for 16 bits: CPUs keep activations in f32 when they decode.
void attention_step(const AttentionKernels::AttentionStep& a) {
  if (is_half(a.q.dtype()) || is_half(a.k.dtype())) return reference::attention_step(a);
  if (a.new_rows) {
    reference::scatter_rows(a.k, a.new_k, a.new_rows);
    reference::scatter_rows(a.v, a.new_v, a.new_rows);
  }
  const auto attend = HWY_DYNAMIC_DISPATCH(AttendRow);
  const int64_t each = a.scratch.bytes() / int64_t{sizeof(float)} / thread_count();
  parallel_blocks(a.q.rows(), 8, [&](Range rows, int t) {
    for (int64_t n = rows.begin; n < rows.end; ++n)
      attend(a, n, static_cast<float*>(a.scratch.data()) + t * each, each / a.heads);
  });
}

}  // namespace

void install_attention_step(AttentionKernels& b) {
  b.attention_step_scratch = [](int heads, int64_t longest) {
    return thread_count() * heads * room_for(longest) * int64_t{sizeof(float)};
  };
  b.attention_step = attention_step;
}

}  // namespace dragoman::cpu
#endif
