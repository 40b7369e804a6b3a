#pragma once
#include "backend/cuda/attention.cuh"
#include "backend/cuda/exponential.cuh"
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

/// Calls f(j, e, row, column) for this lane's elements of scores.
template <class F>
__device__ void each_score(const F& f) {
  const Lane lane;
#pragma unroll
  for (int j = 0; j < span / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) f(j, e, lane.row(e), lane.column(j, e));
}

/// Rows of the other side, in 32 bits, which take half of the registers of a Range.
struct RowRange {
  int begin, end;
};

/// Visibility with windows, strides or a first query: not inlined, because this needs 64 bits and divisions.
[[gnu::noinline]] inline __device__ RowRange rare_keys_of(Visibility visible, int query, int keys) {
  const Range seen = visible.keys(query, keys);
  return {int(seen.begin), int(seen.end)};
}
[[gnu::noinline]] inline __device__ RowRange rare_queries_of(Visibility visible, int key, int queries) {
  const Range seeing = visible.queries(key, queries);
  return {int(seeing.begin), int(seeing.end)};
}
__device__ inline bool is_usual(const Visibility& v) { return v.window < 0 && v.first == 0 && v.stride == 1; }

/// As Visibility::keys and Visibility::queries.
__device__ inline RowRange keys_of(const Visibility& visible, int query, int keys) {
  if (!is_usual(visible)) return rare_keys_of(visible, query, keys);
  return {0, visible.causal && query < keys ? query + 1 : keys};
}
__device__ inline RowRange queries_of(const Visibility& visible, int key, int queries) {
  if (!is_usual(visible)) return rare_queries_of(visible, key, queries);
  return {!visible.causal ? 0 : key < queries ? key : queries, queries};
}

/// The keys that some query of [begin, begin + count) sees.
__device__ inline RowRange seen_by(const Heads& a, const Sentence& at, int begin, int count) {
  if (begin >= at.queries) return {0, 0};
  const int last = (begin + count < at.queries ? begin + count : at.queries) - 1;
  return {keys_of(a.visible, begin, at.keys).begin, keys_of(a.visible, last, at.keys).end};
}

/// Which rows of the other side have a score with each of the two rows that a lane shares.
struct Partners {
  RowRange of_row[2];

  /// `of(i)`: those of row i, of a warp's rows from `first` on; rows from `count` on have none.
  template <class F>
  __device__ Partners(int first, int count, const F& of) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = first + Lane().row(2 * r);
      of_row[r] = i < count ? of(i) : RowRange{0, 0};
    }
  }
  __device__ static Partners of_queries(const Heads& a, const Sentence& at, int first) {
    return {first, at.queries, [&](int i) { return keys_of(a.visible, i, at.keys); }};
  }
  __device__ static Partners of_keys(const Heads& a, const Sentence& at, int first) {
    return {first, at.keys, [&](int j) { return queries_of(a.visible, j, at.queries); }};
  }
  /// Whether element e of a tile, in this column, has a score.
  __device__ bool have(int e, int column) const { return of_row[e / 2].begin <= column && column < of_row[e / 2].end; }
};

/// One head's biases of one sentence.
struct Biases {
  const float* middle;  // of query 0 and distance 0
  int stride, reach;

  __device__ Biases(const Scoring& s, const Sentence& at) : stride(int(s.bias.stride)), reach(int(s.reach)) {
    const bool shared = s.bias.rows == 1;
    middle = s.bias.data + (shared ? 0 : at.first_query) * s.bias.stride + s.bias_column(at.head, 0);
    if (shared) stride = 0;
  }
  __device__ float operator()(int query, int key) const {
    const int distance = key - query;
    return middle[int64_t{query} * stride + (distance < -reach ? -reach : distance > reach ? reach : distance)];
  }
};

/// Turns products q · k into scores that are still to be scaled, -inf where there is no such pair. The warp's rows are
/// queries, or keys, from `row` on, and its columns keys, or queries, from `column` on.
template <bool rows_are_keys, bool biased>
__device__ void to_scores(Scores& products, const Heads& a, const Sentence& at, const Partners& partners, int row,
                          int column) {
  if constexpr (biased) {
    const Biases biases(a.scoring, at);
    each_score([&](int j, int e, int r, int c) {
      const int query = rows_are_keys ? column + c : row + r, key = rows_are_keys ? row + r : column + c;
      if (partners.have(e, column + c)) products[j][e] += biases(query, key);
    });
  }
  each_score([&](int j, int e, int, int c) {
    if (!partners.have(e, column + c)) products[j][e] = -INFINITY;
  });
}

/// Dropout of the weights whose rows are a warp's from `row` on, and whose columns start at `column`: queries and keys,
/// or keys and queries. A loop that is not unrolled leaves its registers to attention without dropout.
struct Kept {
  unsigned bits = ~0u;  // bit 4j + e: whether element [j][e] is kept
  float scale;

  __device__ Kept(const Heads& a, const Sentence& at, int row, int column, bool rows_are_keys) : scale(a.mask.scale) {
    if (!a.mask.positions) return;
    const Lane lane;
    const int draws = rows_are_keys ? span / 2 : span / 4;  // keys that are 16 apart share one
    bits = 0;
#pragma unroll 1
    for (int n = 0; n < draws; ++n) {
      const int r = row + lane.row(n % 4), c = column + lane.column(n / 4, n % 4);
      const int query = rows_are_keys ? c : r, key = rows_are_keys ? r : c;
      if (query >= at.queries) continue;
      const PhiloxCounter words = a.mask.draw(at.first_query + query, a.stream(at.head), Mask::unit_of(key));
      const int number = Mask::number_of(key);
      if (a.mask.keeps(words, number)) bits |= 1u << n;
      if (!rows_are_keys && a.mask.keeps(words, number + 1)) bits |= 1u << (n + span / 4);
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

/// Softmax over keys that arrive in turn (Milakov & Gimelshein 2018), for one of the two rows that a lane shares. T:
/// the type of the factors.
template <class T>
struct RowSoftmax {
  float top = -INFINITY, sum = 0;  // the highest score, and the sum over this lane's keys

  /// Turns scores into exp(scale · (score - top)) and rescales what was accumulated with a lower top.
  template <int n>
  __device__ void take(Scores& p, float (&gathered)[n][4], int row, float scale) {
    float highest = top;
#pragma unroll
    for (int j = 0; j < span / 8; ++j) highest = fmaxf(highest, fmaxf(p[j][2 * row], p[j][2 * row + 1]));
    highest = row_reduce(highest, Larger{});
    const PowersBelow<T> weight(highest, scale);
    const float shrink = highest == top ? 1.f : power<T>(weight.unit * (top - highest));
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
        p[j][e] = weight(p[j][e]);
        sum += p[j][e];
      }
  }
};

}  // namespace dragoman::cuda
