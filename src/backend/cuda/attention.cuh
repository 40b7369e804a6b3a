#pragma once
#include "backend/attention_shape.h"
#include "backend/backend.h"
#include "backend/cuda/four.cuh"
#include "backend/cuda/mask.cuh"

namespace dragoman::cuda {

/// Σ a_d b_d of rows of the same type, four elements at a time if both start at multiples of four.
__device__ inline float dot(const Row& a, const Row& b, int64_t count) {
  float sum = 0;
  int64_t d = 0;
  if (in_fours(a) && in_fours(b))
    for (; d + 4 <= count; d += 4) {
      const Four x = load_four(a, d, count, true), y = load_four(b, d, count, true);
      sum += x.at[0] * y.at[0] + x.at[1] * y.at[1] + x.at[2] * y.at[2] + x.at[3] * y.at[3];
    }
  for (; d < count; ++d) sum += a[d] * b[d];
  return sum;
}

/// One head of queries and keys on the device: computes scores from pairs of rows (see Score and DistanceBias).
struct Scoring {
  Values q, k, v;
  View<const float> bias;
  const float* vector = nullptr;  // (H*K), only for additive scores
  int heads = 1;
  int64_t K = 0, V = 0;  // size of a head
  float scale = 1;
  int64_t reach = 0;  // of the bias

  __device__ Row query(int64_t row, int head) const { return q.row(row, head * K); }
  __device__ Row key(int64_t row, int head) const { return k.row(row, head * K); }
  __device__ Row value(int64_t row, int head) const { return v.row(row, head * V); }
  __device__ int64_t bias_column(int head, int64_t distance) const {
    const int64_t clipped = distance < -reach ? -reach : distance > reach ? reach : distance;
    return head * (2 * reach + 1) + clipped + reach;
  }
  __device__ float bias_of(int64_t query_row, int head, int64_t distance) const {
    return bias(bias.rows == 1 ? 0 : query_row, bias_column(head, distance));
  }
  __device__ float score(const Row& of_query, const Row& of_key, int64_t query_row, int head, int64_t distance) const {
    float sum = 0;
    if (vector)
      for (int64_t d = 0; d < K; ++d) sum += vector[head * K + d] * tanhf(of_query[d] + of_key[d]);
    else
      sum = dot(of_query, of_key, K);
    if (bias) sum += bias_of(query_row, head, distance);
    return __fmul_rn(sum, scale);  // rounded before a difference of scores, which else might not be 0 (PowersBelow)
  }
};

/// Softmax over keys that arrive 32 at a time, one per lane (Milakov & Gimelshein 2018). The weighted sum of values
/// accumulates in `sums` (V) in shared memory.
struct OnlineSoftmax {
  float top = -INFINITY, sum = 0;

  /// `row`: of this lane's key; `keep`: the dropout factor of its weight; `load(row, d)`: four values from column d on.
  /// All lanes call. Groups of `lanes` of them read a row together, each group another one, and loads overlap.
  template <int lanes, class F>
  __device__ void take(float score, bool seen, float keep, int row, float* sums, int64_t V, const F& load) {
    const float before = top;
    top = fmaxf(top, warp_max(seen ? score : -INFINITY));  // -INFINITY too where all are NaN, which the weights keep
    const float base = top == -INFINITY ? 0.f : top, shrink = expf(before - base),
                weight = seen ? expf(score - base) : 0.f;
    sum = sum * shrink + warp_sum(weight);
    const int lane = int(threadIdx.x % warp_size);
    for (int64_t first = 0; first < V; first += 4 * lanes) {
      const int64_t d = first + 4 * (lane % lanes);
      Four total = {};
#pragma unroll 8
      for (int i = 0; i < lanes; ++i) {
        const int j = i * (warp_size / lanes) + lane / lanes;
        const float p = __shfl_sync(0xffffffffu, weight * keep, j);
        const int of_j = __shfl_sync(0xffffffffu, row, j);
        const Four v = p != 0 && d < V ? load(of_j, d) : Four{};
        for (int e = 0; e < 4; ++e) total.at[e] += p * v.at[e];
      }
      for (int other = lanes; other < warp_size; other *= 2)
        for (int e = 0; e < 4; ++e) total.at[e] += __shfl_xor_sync(0xffffffffu, total.at[e], other);
      for (int e = 0; e < 4 && lane < lanes && d + e < V; ++e) sums[d + e] = sums[d + e] * shrink + total.at[e];
    }
  }
};

/// Numbers by the distance of a key from its query, a row for each query (Attention::by_distance).
struct ByDistance {
  View<float> numbers;  // (Nq,H·(2R+1)) or empty
  int64_t reach = 0;    // R

  ByDistance(const Tensor& of, int heads) : numbers(view<float>(of)), reach(of ? DistanceBias::reach(of, heads) : 0) {}
  __device__ explicit operator bool() const { return bool(numbers); }
  __device__ float* of_head(int64_t row, int head) const { return numbers.row(row) + head * (2 * reach + 1); }
  __device__ int64_t column(int64_t distance) const {
    return (distance < -reach ? -reach : distance > reach ? reach : distance) + reach;
  }
  __device__ float at(int64_t row, int head, int64_t distance) const { return of_head(row, head)[column(distance)]; }
  /// All lanes of a warp call: those that see a key add x. Their distances and thus columns differ, except that all
  /// clipped ones share the first or last column.
  __device__ void add(int64_t row, int head, int64_t distance, float x, bool sees) const {
    const int64_t own = column(distance), end = 2 * reach;
    const bool first = own == 0, last = own == end && end > 0;
    const float at_first = warp_sum(sees && first ? x : 0.f), at_last = warp_sum(sees && last ? x : 0.f);
    float* mine = of_head(row, head);
    if (sees && !first && !last) mine[own] += x;
    if (threadIdx.x % warp_size != 0) return;
    mine[0] += at_first;
    if (end > 0) mine[end] += at_last;
  }
  __device__ void clear(int64_t row, int head) const {
    for (int64_t c = threadIdx.x % warp_size; c <= 2 * reach; c += warp_size) of_head(row, head)[c] = 0;
    __syncwarp();
  }
};

/// All heads of all sentences of an attention. Each block of a kernel handles some rows of one head of one sentence:
/// grid (sentences, heads, blocks of the longest sentence).
struct Heads {
  Scoring scoring;
  const int32_t *queries, *keys;  // offsets
  Visibility visible;
  Mask mask;

  explicit Heads(const Backend::Attention& a)
      : scoring{Values(a.q),
                Values(a.k),
                Values(a.v),
                view<const float>(a.bias),
                view<const float>(a.score_vector).data,
                a.shape.heads,
                a.q.cols() / a.shape.heads,
                a.v.cols() / a.shape.heads,
                float(score_scale(a.shape.score, a.q.cols() / a.shape.heads)),
                a.bias ? DistanceBias::reach(a.bias, a.shape.heads) : 0},
        queries(integers(a.shape.queries.offsets())),
        keys(integers(a.shape.keys.offsets())),
        visible(a.shape.visible),
        mask(a.shape.dropout) {}

  __device__ uint32_t stream(int head) const { return mask.op * 4096 + uint32_t(head); }
};

/// `rows`: queries or keys, of which each block handles `rows_of_block`.
inline dim3 grid_of(const Spans& rows, int heads, int rows_of_block) {
  return {unsigned(rows.sentences()), unsigned(heads), blocks_of(rows.longest(), rows_of_block)};
}

/// The sentence and head that a block handles.
struct Sentence {
  int first_query, queries, first_key, keys, head;

  __device__ explicit Sentence(const Heads& a)
      : first_query(a.queries[blockIdx.x]),
        queries(a.queries[blockIdx.x + 1] - first_query),
        first_key(a.keys[blockIdx.x]),
        keys(a.keys[blockIdx.x + 1] - first_key),
        head(int(blockIdx.y)) {}
};

/// What the backward pass of an attention reads and writes.
struct AttentionGradients {
  Put dq, dk, dv;
  ByDistance dbias;
  bool dbias_adds;
  Values dy, y;
  View<const float> lse;
  View<float> inner;    // (Nq,H): dy_i · y_i, of queries that see a key
  View<float> dvector;  // (Nq,H*K): each query's contribution to the score vector's gradient; or empty
  ByDistance dby_distance;
};

/// Attention on matrix units (tiled_attention.cu), for scores that are dot products and heads that fit.
bool on_matrix_units(const Backend::Attention& a);
void tiled_attention(const Backend::Attention& a);
void tiled_attention_backward(const Backend::Attention& a, const AttentionGradients& gradients);

}  // namespace dragoman::cuda
