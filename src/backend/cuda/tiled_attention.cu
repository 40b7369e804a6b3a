#include "backend/backend.h"
#include "backend/cuda/attention.cuh"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/tiled_scores.cuh"

// Attention on matrix units, after FlashAttention-2 (Dao 2023). A warp keeps 16 queries, or in the backward pass 16
// keys, in registers, and iterates over the other side 32 rows at a time, which its block loads into shared memory.
// Scores exist only in registers. The order of summation is fixed, so results do not depend on the rest of the batch.
// Rows of its tile that a query does not see are multiplied by 0: if they are not finite, the query's result is NaN.
namespace dragoman::cuda {
namespace {

constexpr int most_threads = 128;  // of a block

/// Blocks that a multiprocessor shall hold at a time, so that some compute while others wait for memory: the more, the
/// fewer registers a thread may have (65,536 / 128 / 4 = 128). Wider heads than 64 and f32 need as many as there are.
template <class T, int size>
constexpr int blocks_forward = sizeof(T) * size <= 128 ? 4 : 1;
template <class T, int size>
constexpr int blocks_backward = sizeof(T) * size <= 128 ? 3 : 1;

__device__ int rows_of_block() { return int(blockDim.x) / warp_size * rows_of_warp; }
__device__ int row_of_warp() { return int(threadIdx.x) / warp_size * rows_of_warp; }

/// One head's rows of a matrix with a row for each query, from query i of the sentence on, or each key.
__device__ HeadRows queries_from(const Sentence& at, const Values& x, int64_t i, int64_t width) {
  return {x, at.first_query + i, at.queries - i, at.head, width};
}
__device__ HeadRows keys_from(const Sentence& at, const Values& x, int64_t j, int64_t width) {
  return {x, at.first_key + j, at.keys - j, at.head, width};
}

/// Rows of two matrices of the other side, for heads of size up to `size`: what the kernels keep in shared memory.
template <class T, int size>
struct Tiles {
  Tile<T, size> first, second;

  static int64_t bytes() { return 2 * Tile<T, size>::bytes(span); }
  __device__ Tiles() {
    TileMemory<T> memory;
    memory.take(first, span);
    memory.take(second, span);
  }
  /// Begins to fill them with rows of x and y, once all warps have used the previous rows.
  __device__ void load(const HeadRows& x, const HeadRows& y) const {
    __syncthreads();
    stage<span>(first, x);
    stage<span>(second, y);
  }
  __device__ void wait() const {
    wait_for_copies();
    __syncthreads();
  }
};

/// Writes a warp's results, each multiplied by the factor of its row, one of the two that a lane shares.
template <int n>
__device__ void write(const HeadResults& to, const float (&result)[n][4], const float (&factors)[2]) {
  const Lane lane;
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int r = 0; r < 2; ++r)
      to.put(lane.row(2 * r), lane.column(j, 0), factors[r] * result[j][2 * r], factors[r] * result[j][2 * r + 1]);
}

// y_i = Σ_j p_ij v_j,  p_i = softmax_j(score_ij). 0 for a query that sees no key.
template <class T, int size>
__global__ void __launch_bounds__(most_threads, (blocks_forward<T, size>))
    forward_kernel(Heads a, Put y, View<float> lse) {
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int64_t begin = int64_t{blockIdx.z} * rows, mine = begin + row_of_warp();
  if (begin >= at.queries) return;
  const Tiles<T, size> tiles;
  const Range seen = seen_by(a, at, begin, rows), own = seen_by(a, at, mine, rows_of_warp);
  const auto load = [&](int64_t key) { tiles.load(keys_from(at, s.k, key, s.K), keys_from(at, s.v, key, s.V)); };
  const int64_t first = seen.begin / span * span;
  load(first);
  const Fragments<T, size> q(queries_from(at, s.q, mine, s.K));
  float sums[size / 8][4] = {};
  RowSoftmax softmax[2];
  for (int64_t key = first; key < seen.end; key += span) {
    if (key > first) load(key);
    tiles.wait();
    if (key >= own.end || key + span <= own.begin) continue;
    Scores p = {};
    add_product(p, q, tiles.first);
    each_score(
        [&](int j, int e, int i, int of_key) { p[j][e] = score(a, at, int(mine) + i, int(key) + of_key, p[j][e]); });
    softmax[0].take(p, sums, 0);
    softmax[1].take(p, sums, 1);
    if (a.mask.positions) Kept(a, at, mine, key, false).apply_to(p);
    add_product(sums, p, tiles.second);
  }
  float factors[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float total = row_reduce(softmax[r].sum, Plus{});
    factors[r] = total == 0 ? 0.f : 1 / total;
    const int64_t i = mine + Lane().row(2 * r);
    if (Lane().t == 0 && i < at.queries)
      lse(at.first_query + i, at.head) = total == 0 ? 0.f : softmax[r].top + logf(total);
  }
  write({y, at.first_query + mine, at.queries - mine, at.head, s.V}, sums, factors);
}

/// dy_i · y_i of the two rows that a lane shares. It uses dy as rounded for products, so that the gradients of a
/// query's scores sum to 0 as they should.
template <class T, int size>
__device__ void inner_products(float (&inner)[2], const Fragments<T, size>& dy, const HeadRows& y) {
  const auto sum_with = [&](const auto& of_y) {
#pragma unroll
    for (int k = 0; k < size / 16; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const auto& a = dy.at[k][i];
        const auto& b = of_y.at[k][i];
        inner[i % 2] += a.first() * b.first() + a.second() * b.second();
      }
  };
  y.type == dtype_of<T>() ? sum_with(Fragments<T, size>(y)) : sum_with(Fragments<float, size>(y));
  inner[0] = row_reduce(inner[0], Plus{});
  inner[1] = row_reduce(inner[1], Plus{});
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
#pragma unroll
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
__global__ void __launch_bounds__(most_threads, (blocks_backward<T, size>))
    query_kernel(Heads a, AttentionGradients b) {
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int64_t begin = int64_t{blockIdx.z} * rows, mine = begin + row_of_warp();
  if (begin >= at.queries) return;
  const Tiles<T, size> tiles;
  const Range seen = seen_by(a, at, begin, rows), own = seen_by(a, at, mine, rows_of_warp);
  const auto load = [&](int64_t key) { tiles.load(keys_from(at, s.k, key, s.K), keys_from(at, s.v, key, s.V)); };
  const int64_t first = seen.begin / span * span;
  load(first);
  const Fragments<T, size> q(queries_from(at, s.q, mine, s.K)), dy(queries_from(at, b.dy, mine, s.V));
  float inner[2] = {}, lse[2] = {}, dq[size / 8][4] = {};
  inner_products(inner, dy, queries_from(at, b.y, mine, s.V));
#pragma unroll
  for (int r = 0; r < 2; ++r)
    if (const int64_t i = mine + Lane().row(2 * r); i < at.queries) {
      lse[r] = b.lse(at.first_query + i, at.head);
      if (Lane().t == 0) b.inner(at.first_query + i, at.head) = inner[r];
    }
  BiasGradient bias(b, at, s.heads, mine);
  for (int64_t key = first; key < seen.end; key += span) {
    if (key > first) load(key);
    tiles.wait();
    if (key >= own.end || key + span <= own.begin) continue;
    Scores p = {}, dp = {};
    add_product(p, q, tiles.first);
    add_product(dp, dy, tiles.second);
    if (a.mask.positions) Kept(a, at, mine, key, false).apply_to(dp);
    each_score([&](int j, int e, int i, int of_key) {
      const float of_pair = score(a, at, int(mine) + i, int(key) + of_key, p[j][e]);
      const bool there = of_pair != -INFINITY;
      const int r = e / 2;
      dp[j][e] = there ? expf(of_pair - lse[r]) * (dp[j][e] - inner[r]) * s.scale : 0.f;
      if (bias.to && there)
        bias.add(at.first_query + mine + i, at.head,
                 s.bias_column(at.head, key + of_key - mine - i) - at.head * bias.width, r, dp[j][e]);
    });
    add_product(dq, dp, tiles.first);
  }
  bias.finish(at, mine);
  write({b.dq, at.first_query + mine, at.queries - mine, at.head, s.K}, dq, {1, 1});
}

/// Of the queries whose rows are in shared memory.
struct OfQueries {
  float lse[span], inner[span];
};

// The same per key:  dk_j = Σ_i ds_ij q_i,  dv_j = Σ_i m_ij p_ij dy_i. Here the rows of scores are keys.
template <class T, int size>
__global__ void __launch_bounds__(most_threads, (blocks_backward<T, size>)) key_kernel(Heads a, AttentionGradients b) {
  __shared__ OfQueries queries;
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int64_t begin = int64_t{blockIdx.z} * rows, mine = begin + row_of_warp();
  if (begin >= at.keys) return;
  const Tiles<T, size> tiles;
  const auto visible = [&](int64_t query, int64_t key, int count) {
    const Range seen = seen_by(a, at, query, span);
    return key < seen.end && seen.begin < key + count;
  };
  const auto next = [&](int64_t query) {
    while (query < at.queries && !visible(query, begin, rows)) query += span;
    return query;
  };
  const auto load = [&](int64_t query) {
    if (query >= at.queries) return;
    tiles.load(queries_from(at, s.q, query, s.K), queries_from(at, b.dy, query, s.V));
    if (const int64_t i = query + threadIdx.x; threadIdx.x < span && i < at.queries) {
      queries.lse[threadIdx.x] = b.lse(at.first_query + i, at.head);
      queries.inner[threadIdx.x] = b.inner(at.first_query + i, at.head);
    }
  };
  int64_t query = next(0);
  load(query);
  const Fragments<T, size> k(keys_from(at, s.k, mine, s.K)), v(keys_from(at, s.v, mine, s.V));
  float dk[size / 8][4] = {}, dv[size / 8][4] = {};
  for (; query < at.queries; query = next(query + span), load(query)) {
    tiles.wait();
    if (!visible(query, mine, rows_of_warp)) continue;
    Scores p = {}, dp = {};
    add_product(p, k, tiles.first);
    add_product(dp, v, tiles.second);
    const Kept kept(a, at, mine, query, true);
    each_score([&](int j, int e, int of_key, int i) {  // the weight and the score's gradient
      const float of_pair = score(a, at, int(query) + i, int(mine) + of_key, p[j][e]);
      const float weight = of_pair == -INFINITY ? 0.f : expf(of_pair - queries.lse[i]);
      dp[j][e] = of_pair == -INFINITY ? 0.f : weight * (kept.factor(j, e) * dp[j][e] - queries.inner[i]) * s.scale;
      p[j][e] = weight * kept.factor(j, e);
    });
    add_product(dv, p, tiles.second);
    add_product(dk, dp, tiles.first);
  }
  write({b.dk, at.first_key + mine, at.keys - mine, at.head, s.K}, dk, {1, 1});
  write({b.dv, at.first_key + mine, at.keys - mine, at.head, s.V}, dv, {1, 1});
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
  return int(std::clamp<int64_t>((rows.longest() + rows_of_warp - 1) / rows_of_warp, 1, most_threads / warp_size));
}

template <class... P, class... A>
void launch_on(const Spans& rows, int heads, int64_t bytes, void (*kernel)(P...), const A&... arguments) {
  const int warps = warps_for(rows);
  launch(kernel, grid_of(rows, heads, warps * rows_of_warp), dim3(unsigned(warps * warp_size)), bytes, arguments...);
}

}  // namespace

bool on_matrix_units(const Backend::Attention& a) {
  const int64_t widest = a.factors == DType::f32 ? 64 : 128;
  return has_matrix_units() && !a.score_vector && !a.weights && widest_head(a) <= widest;
}

void tiled_attention(const Backend::Attention& a) {
  for_tiles(a, [&]<class T, int size>() {
    launch_on(a.shape.queries, a.shape.heads, Tiles<T, size>::bytes(), forward_kernel<T, size>, Heads(a),
              Put(Grad{a.y}), view<float>(a.lse));
  });
}

void tiled_attention_backward(const Backend::Attention& a, const AttentionGradients& b) {
  for_tiles(a, [&]<class T, int size>() {
    const Heads heads(a);
    launch_on(a.shape.queries, a.shape.heads, Tiles<T, size>::bytes(), query_kernel<T, size>, heads, b);
    if (b.dk || b.dv) launch_on(a.shape.keys, a.shape.heads, Tiles<T, size>::bytes(), key_kernel<T, size>, heads, b);
  });
}

}  // namespace dragoman::cuda
