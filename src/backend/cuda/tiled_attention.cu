#include "backend/backend.h"
#include "backend/cuda/attention.cuh"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/tiles.cuh"

// Attention on matrix units, after FlashAttention-2 (Dao 2023). A warp handles 16 queries, or in the backward pass 16
// keys, and iterates over the other side 32 rows at a time, which its block loads into shared memory. Scores exist only
// in registers. The order of summation is fixed, so results do not depend on the rest of the batch. Rows of its tile
// that a query does not see are multiplied by 0: if they are not finite, the query's result is NaN.
namespace dragoman::cuda {
namespace {

constexpr int span = 32;  // rows of the other side in shared memory

/// Scores, weights and the like: a warp's 16 rows by `span`.
using Scores = float[span / 8][4];

__device__ int rows_of_block() { return int(blockDim.x) / warp_size * rows_of_warp; }
__device__ int row_of_warp() { return int(threadIdx.x) / warp_size * rows_of_warp; }

/// Reduces over the four lanes that share a row.
template <class Join>
__device__ float row_reduce(float x, Join join) {
  x = join(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return join(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ HeadRows queries_from(const Sentence& at, const Values& x, int64_t i, int64_t width) {
  return {x, at.first_query + i, int(at.queries - i), at.head * width, int(width)};
}
__device__ HeadRows keys_from(const Sentence& at, const Values& x, int64_t j, int64_t width) {
  return {x, at.first_key + j, int(at.keys - j), at.head * width, int(width)};
}

/// Range of the keys that some query of [begin, begin + count) sees.
__device__ Range seen_by(const Heads& a, const Sentence& at, int64_t begin, int count) {
  const int64_t last = (begin + count < at.queries ? begin + count : at.queries) - 1;
  return {a.visible.keys(begin, at.keys).begin, a.visible.keys(last, at.keys).end};
}

/// The score of query i and key j, given `product` = q · k. -inf if there is no such pair.
__device__ float score(const Heads& a, const Sentence& at, int64_t i, int64_t j, float product) {
  if (i >= at.queries || j >= at.keys || !a.visible.sees(i, j)) return -INFINITY;
  const Scoring& s = a.scoring;
  if (s.bias) product += s.bias(s.bias.rows == 1 ? 0 : at.first_query + i, s.bias_column(at.head, j - i));
  return product * s.scale;
}

/// Calls f(row, column, element of x, element of y, which of the lane's two rows) for this lane's elements of x and y.
template <class F>
__device__ void each_pair(const F& f, Scores& x, Scores& y) {
  const Lane lane;
#pragma unroll
  for (int j = 0; j < span / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) f(lane.row(e), lane.column(j, e), x[j][e], y[j][e], e / 2);
}

/// Dropout factors for the weights of a warp's queries from `query` on and `span` keys from `key` on.
__device__ void draw(Scores& keep, const Heads& a, const Sentence& at, int64_t query, int64_t key) {
  const Lane lane;
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int64_t i = query + lane.row(e);
      float2 factors = {1, 1};
      if (a.mask.positions && i < at.queries)
        factors = a.mask.factors_of_two(at.first_query + i, a.stream(at.head), key + lane.column(j, e));
      keep[j][e] = factors.x;
      keep[j + 2][e] = factors.y;
    }
}

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

/// What the kernels keep in shared memory, for heads of size up to `size`. The second factor of a product is stored
/// with the summed dimension along its rows, so some tiles are transposed.
template <class T, int size>
struct ForwardTiles {
  Tile<T, size> q, k;
  Tile<T, span> v_transposed;

  static int64_t bytes(int rows) { return Tile<T, size>::bytes(rows + span) + Tile<T, span>::bytes(size); }
  __device__ explicit ForwardTiles(int rows) {
    TileMemory<T> memory;
    memory.take(q, rows);
    memory.take(k, span);
    memory.take(v_transposed, size);
  }
};

template <class T, int size>
struct QueryTiles {
  Tile<T, size> q, dy, k, v;
  Tile<T, span> k_transposed;

  static int64_t bytes(int rows) { return Tile<T, size>::bytes(2 * rows + 2 * span) + Tile<T, span>::bytes(size); }
  __device__ explicit QueryTiles(int rows) {
    TileMemory<T> memory;
    memory.take(q, rows);
    memory.take(dy, rows);
    memory.take(k, span);
    memory.take(v, span);
    memory.take(k_transposed, size);
  }
};

template <class T, int size>
struct KeyTiles {
  Tile<T, size> k, v, q, dy;
  Tile<T, span> q_transposed, dy_transposed;

  static int64_t bytes(int rows) { return Tile<T, size>::bytes(2 * rows + 2 * span) + Tile<T, span>::bytes(2 * size); }
  __device__ explicit KeyTiles(int rows) {
    TileMemory<T> memory;
    memory.take(k, rows);
    memory.take(v, rows);
    memory.take(q, span);
    memory.take(dy, span);
    memory.take(q_transposed, size);
    memory.take(dy_transposed, size);
  }
};

/// Calls f(row of the sentence, column of the head, value, which of the lane's two rows) for the elements of a warp's
/// result that exist.
template <int n, class F>
__device__ void each_result(const float (&result)[n][4], int64_t first_row, int64_t rows, int64_t width, const F& f) {
  const Lane lane;
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int64_t row = first_row + lane.row(e), column = lane.column(j, e);
      if (row < rows && column < width) f(row, column, result[j][e], e / 2);
    }
}

// y_i = Σ_j p_ij v_j,  p_i = softmax_j(score_ij). 0 for a query that sees no key.
template <class T, int size>
__global__ void __launch_bounds__(128) forward_kernel(Heads a, Values y, View<float> lse) {
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int64_t begin = int64_t{blockIdx.z} * rows, mine = begin + row_of_warp();
  if (begin >= at.queries) return;
  const ForwardTiles<T, size> tiles(rows);
  stage(tiles.q, rows, queries_from(at, s.q, begin, s.K));
  float sums[size / 8][4] = {};
  RowSoftmax softmax[2];
  const Range seen = seen_by(a, at, begin, rows);
  for (int64_t key = seen.begin / span * span; key < seen.end; key += span) {
    __syncthreads();
    stage(tiles.k, span, keys_from(at, s.k, key, s.K));
    stage_transposed(tiles.v_transposed, size, keys_from(at, s.v, key, s.V));
    __syncthreads();
    Scores p = {}, keep;
    add_product(p, tiles.q, row_of_warp(), tiles.k);
    draw(keep, a, at, mine, key);
    each_pair([&](int i, int j, float& product, float&, int) { product = score(a, at, mine + i, key + j, product); }, p,
              p);
    softmax[0].take(p, sums, 0);
    softmax[1].take(p, sums, 1);
    each_pair([&](int, int, float& weight, float& kept, int) { weight *= kept; }, p, keep);
    add_product<T, span>(sums, p, tiles.v_transposed);
  }
  float total[2];
  for (int r = 0; r < 2; ++r) {
    total[r] = row_reduce(softmax[r].sum, Plus{});
    const int64_t i = mine + Lane().row(2 * r);
    if (Lane().t == 0 && i < at.queries)
      lse(at.first_query + i, at.head) = total[r] == 0 ? 0.f : softmax[r].top + logf(total[r]);
  }
  each_result(sums, mine, at.queries, s.V, [&](int64_t i, int64_t d, float sum, int r) {
    y.set(at.first_query + i, at.head * s.V + d, total[r] == 0 ? 0.f : sum / total[r]);
  });
}

/// dy_i · y_i of the two rows that a lane shares, summed by the whole warp. It uses dy as rounded for products, so that
/// the gradients of a query's scores sum to 0 as they should.
template <class T>
__device__ void inner_products(float (&inner)[2], const Heads& a, const AttentionGradients& b, const Sentence& at,
                               int64_t first) {
  const int64_t V = a.scoring.V;
  const Lane lane;
  for (int r = 0; r < rows_of_warp && first + r < at.queries; ++r) {
    const int64_t row = at.first_query + first + r;
    float sum = 0;
    for (int64_t d = threadIdx.x % warp_size; d < V; d += warp_size)
      sum += float(T(b.dy(row, at.head * V + d))) * b.y(row, at.head * V + d);
    sum = warp_sum(sum);
    if (r == lane.row(0)) inner[0] = sum;
    if (r == lane.row(2)) inner[1] = sum;
    if (threadIdx.x % warp_size == 0) b.inner(row, at.head) = sum;
  }
}

/// The gradient of the scores' bias. The keys of a row differ in distance from its query and thus in column, except
/// that clipped distances share the first or last column; these two are summed separately.
struct BiasGradient {
  View<float> to;  // empty if not wanted
  int64_t width;   // columns of a head
  float first[2] = {}, last[2] = {};

  __device__ BiasGradient(const AttentionGradients& b, const Sentence& at, int heads, int64_t first_row)
      : to(b.dbias), width(b.dbias.cols / heads) {
    if (!to || b.dbias_adds) return;
    for (int r = 0; r < rows_of_warp && first_row + r < at.queries; ++r)
      for (int64_t c = threadIdx.x % warp_size; c < width; c += warp_size)
        to(at.first_query + first_row + r, at.head * width + c) = 0;
    __syncwarp();
  }
  /// `column` is within the head; r is which of the lane's two rows.
  __device__ void add(int64_t row, int head, int64_t column, int r, float gradient) {
    if (column == 0)
      first[r] += gradient;
    else if (column == width - 1)
      last[r] += gradient;
    else
      to(row, head * width + column) += gradient;
  }
  __device__ void finish(const Sentence& at, int64_t first_row) {
    if (!to) return;
    const Lane lane;
    for (int r = 0; r < 2; ++r) {
      const float at_first = row_reduce(first[r], Plus{}), at_last = row_reduce(last[r], Plus{});
      const int64_t i = first_row + lane.row(2 * r);
      if (lane.t != 0 || i >= at.queries) continue;
      to(at.first_query + i, at.head * width) += at_first;
      if (width > 1) to(at.first_query + i, at.head * width + width - 1) += at_last;
    }
  }
};

// With p the weights, m their dropout, dp_ij = m_ij · dy_i · v_j:  ds = p (dp - dy_i · y_i),  dq_i = Σ_j ds_ij k_j.
template <class T, int size>
__global__ void __launch_bounds__(128) query_kernel(Heads a, AttentionGradients b) {
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int64_t begin = int64_t{blockIdx.z} * rows, mine = begin + row_of_warp();
  if (begin >= at.queries) return;
  const QueryTiles<T, size> tiles(rows);
  stage(tiles.q, rows, queries_from(at, s.q, begin, s.K));
  stage(tiles.dy, rows, queries_from(at, b.dy, begin, s.V));
  float inner[2] = {}, lse[2] = {}, dq[size / 8][4] = {};
  inner_products<T>(inner, a, b, at, mine);
  for (int r = 0; r < 2; ++r)
    if (const int64_t i = mine + Lane().row(2 * r); i < at.queries) lse[r] = b.lse(at.first_query + i, at.head);
  BiasGradient bias(b, at, s.heads, mine);
  const Range seen = seen_by(a, at, begin, rows);
  for (int64_t key = seen.begin / span * span; key < seen.end; key += span) {
    __syncthreads();
    stage(tiles.k, span, keys_from(at, s.k, key, s.K));
    stage(tiles.v, span, keys_from(at, s.v, key, s.V));
    stage_transposed(tiles.k_transposed, size, keys_from(at, s.k, key, s.K));
    __syncthreads();
    Scores p = {}, dp = {}, keep;
    add_product(p, tiles.q, row_of_warp(), tiles.k);
    add_product(dp, tiles.dy, row_of_warp(), tiles.v);
    draw(keep, a, at, mine, key);
    each_pair([&](int, int, float& product, float& kept, int) { product *= kept; }, dp, keep);
    each_pair(
        [&](int i, int j, float& product, float& gradient, int r) {
          const float of_pair = score(a, at, mine + i, key + j, product);
          const bool there = of_pair != -INFINITY;
          gradient = there ? expf(of_pair - lse[r]) * (gradient - inner[r]) * s.scale : 0.f;
          if (bias.to && there)
            bias.add(at.first_query + mine + i, at.head,
                     s.bias_column(at.head, key + j - mine - i) - at.head * bias.width, r, gradient);
        },
        p, dp);
    add_product<T, span>(dq, dp, tiles.k_transposed);
  }
  bias.finish(at, mine);
  each_result(dq, mine, at.queries, s.K,
              [&](int64_t i, int64_t d, float sum, int) { b.dq(at.first_query + i, at.head * s.K + d, sum); });
}

// The same per key:  dk_j = Σ_i ds_ij q_i,  dv_j = Σ_i m_ij p_ij dy_i. Here the rows of scores are keys.
template <class T, int size>
__global__ void __launch_bounds__(128) key_kernel(Heads a, AttentionGradients b) {
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int64_t begin = int64_t{blockIdx.z} * rows, mine = begin + row_of_warp();
  if (begin >= at.keys) return;
  const KeyTiles<T, size> tiles(rows);
  stage(tiles.k, rows, keys_from(at, s.k, begin, s.K));
  stage(tiles.v, rows, keys_from(at, s.v, begin, s.V));
  float dk[size / 8][4] = {}, dv[size / 8][4] = {};
  for (int64_t query = 0; query < at.queries; query += span) {
    const Range seen = seen_by(a, at, query, span);
    if (seen.end <= begin || begin + rows <= seen.begin) continue;
    __syncthreads();
    stage(tiles.q, span, queries_from(at, s.q, query, s.K));
    stage(tiles.dy, span, queries_from(at, b.dy, query, s.V));
    stage_transposed(tiles.q_transposed, size, queries_from(at, s.q, query, s.K));
    stage_transposed(tiles.dy_transposed, size, queries_from(at, b.dy, query, s.V));
    __syncthreads();
    Scores p = {}, dp = {};
    add_product(p, tiles.k, row_of_warp(), tiles.q);
    add_product(dp, tiles.v, row_of_warp(), tiles.dy);
    each_pair(
        [&](int j, int i, float& product, float& gradient, int) {  // replaced by the weight and the score's gradient
          const float of_pair = score(a, at, query + i, mine + j, product);
          const int64_t row = at.first_query + query + i;
          const bool there = of_pair != -INFINITY;
          const float weight = there ? expf(of_pair - b.lse(row, at.head)) : 0.f;
          const float kept = there ? a.mask.factor(row, a.stream(at.head), mine + j) : 0.f;
          gradient = there ? weight * (kept * gradient - b.inner(row, at.head)) * s.scale : 0.f;
          product = weight * kept;
        },
        p, dp);
    add_product<T, span>(dv, p, tiles.dy_transposed);
    add_product<T, span>(dk, dp, tiles.q_transposed);
  }
  each_result(dk, mine, at.keys, s.K,
              [&](int64_t j, int64_t d, float sum, int) { b.dk(at.first_key + j, at.head * s.K + d, sum); });
  each_result(dv, mine, at.keys, s.V,
              [&](int64_t j, int64_t d, float sum, int) { b.dv(at.first_key + j, at.head * s.V + d, sum); });
}

int64_t widest_head(const Backend::Attention& a) { return std::max(a.q.cols(), a.v.cols()) / a.shape.heads; }

/// Calls f.operator()<T, size>() with the operand type and the smallest size that holds a head.
template <class F>
void for_tiles(const Backend::Attention& a, const F& f) {
  const int64_t widest = widest_head(a);
  for_factor(a.factors, [&]<class T>() {
    if (widest <= 32) return f.template operator()<T, 32>();
    if (widest <= 64) return f.template operator()<T, 64>();
    if constexpr (sizeof(T) == 2) f.template operator()<T, 128>();
  });
}

// As many warps as the longest sentence keeps busy, up to 4: the warps of a block share what is in shared memory.
int warps_for(const Spans& rows) {
  return int(std::clamp<int64_t>((rows.longest() + rows_of_warp - 1) / rows_of_warp, 1, 4));
}

template <class... P, class... A>
void launch_on(const Spans& rows, int heads, int64_t (*bytes)(int), void (*kernel)(P...), const A&... arguments) {
  const int warps = warps_for(rows), of_block = warps * rows_of_warp;
  launch(kernel, grid_of(rows, heads, of_block), dim3(unsigned(warps * warp_size)), bytes(of_block), arguments...);
}

}  // namespace

bool on_matrix_units(const Backend::Attention& a) {
  const int64_t widest = a.factors == DType::f32 ? 64 : 128;
  return has_matrix_units() && !a.score_vector && !a.weights && widest_head(a) <= widest;
}

void tiled_attention(const Backend::Attention& a) {
  for_tiles(a, [&]<class T, int size>() {
    launch_on(a.shape.queries, a.shape.heads, ForwardTiles<T, size>::bytes, forward_kernel<T, size>, Heads(a),
              Values(a.y), view<float>(a.lse));
  });
}

void tiled_attention_backward(const Backend::Attention& a, const AttentionGradients& b) {
  for_tiles(a, [&]<class T, int size>() {
    const Heads heads(a);
    launch_on(a.shape.queries, a.shape.heads, QueryTiles<T, size>::bytes, query_kernel<T, size>, heads, b);
    if (b.dk || b.dv) launch_on(a.shape.keys, a.shape.heads, KeyTiles<T, size>::bytes, key_kernel<T, size>, heads, b);
  });
}

}  // namespace dragoman::cuda
