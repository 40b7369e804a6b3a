#pragma once
#include "backend/cuda/attention.cuh"
#include "backend/cuda/tiles.cuh"

/// What a warp of tiled_attention.cu does with the scores of its 16 rows and `span` rows of the other side.
namespace dragoman::cuda {

constexpr int span = 32;  // rows of the other side in shared memory

/// Scores, weights and the like: a warp's 16 rows by `span`.
using Scores = float[span / 8][4];

/// Reduces over the four lanes that share a row.
template <class Join>
__device__ float row_reduce(float x, Join join) {
  x = join(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return join(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

/// Range of the keys that some query of [begin, begin + count) sees.
__device__ inline Range seen_by(const Heads& a, const Sentence& at, int64_t begin, int count) {
  if (begin >= at.queries) return {0, 0};
  const int64_t last = (begin + count < at.queries ? begin + count : at.queries) - 1;
  return {a.visible.keys(begin, at.keys).begin, a.visible.keys(last, at.keys).end};
}

/// The score of query i and key j, given `product` = q · k. -inf if there is no such pair.
__device__ inline float score(const Heads& a, const Sentence& at, int i, int j, float product) {
  if (i >= int(at.queries) || j >= int(at.keys) || !a.visible.sees(i, j)) return -INFINITY;
  const Scoring& s = a.scoring;
  if (s.bias) product += s.bias(s.bias.rows == 1 ? 0 : at.first_query + i, s.bias_column(at.head, j - i));
  return product * s.scale;
}

/// Calls f(j, e, row, column) for this lane's elements of scores.
template <class F>
__device__ void each_score(const F& f) {
  const Lane lane;
#pragma unroll
  for (int j = 0; j < span / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) f(j, e, lane.row(e), lane.column(j, e));
}

/// Dropout of the weights whose rows are a warp's from `row` on, and whose columns start at `column`: queries and keys,
/// or keys and queries. A loop that is not unrolled leaves its registers to attention without dropout.
struct Kept {
  unsigned bits = ~0u;  // bit 4j + e: whether element [j][e] is kept
  float scale;

  __device__ Kept(const Heads& a, const Sentence& at, int64_t row, int64_t column, bool rows_are_keys)
      : scale(a.mask.scale) {
    if (!a.mask.positions) return;
    const Lane lane;
    bits = 0;
#pragma unroll 1
    for (int n = 0; n < span / 2; ++n) {
      const int64_t r = row + lane.row(n % 4), c = column + lane.column(n / 4, n % 4);
      const int64_t query = rows_are_keys ? c : r, key = rows_are_keys ? r : c;
      if (query < at.queries && a.mask.factor(at.first_query + query, a.stream(at.head), key) != 0) bits |= 1u << n;
    }
  }
  __device__ float factor(int j, int e) const { return bits >> (4 * j + e) & 1 ? scale : 0.f; }
  __device__ void apply_to(Scores& x) const {
#pragma unroll
    for (int j = 0; j < span / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) x[j][e] *= factor(j, e);
  }
};

/// Softmax over keys that arrive in turn (Milakov & Gimelshein 2018), for one of the two rows that a lane shares.
struct RowSoftmax {
  float top = -INFINITY, sum = 0;  // the sum over this lane's keys

  /// Turns scores into exp(score - top) and rescales what was accumulated with a lower top.
  template <int n>
  __device__ void take(Scores& p, float (&gathered)[n][4], int row) {
    float highest = top;
#pragma unroll
    for (int j = 0; j < span / 8; ++j) highest = fmaxf(highest, fmaxf(p[j][2 * row], p[j][2 * row + 1]));
    highest = row_reduce(highest, Larger{});
    const float shrink = highest == top ? 1.f : expf(top - highest);
    top = highest;
    sum *= shrink;
#pragma unroll
    for (int j = 0; j < n; ++j)
#pragma unroll
      for (int e = 2 * row; e < 2 * row + 2; ++e) gathered[j][e] *= shrink;
#pragma unroll
    for (int j = 0; j < span / 8; ++j)
#pragma unroll
      for (int e = 2 * row; e < 2 * row + 2; ++e) {
        p[j][e] = p[j][e] == -INFINITY ? 0.f : expf(p[j][e] - highest);
        sum += p[j][e];
      }
  }
};

}  // namespace dragoman::cuda
