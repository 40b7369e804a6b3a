#include "backend/backend.h"
#include "backend/cuda/attention.cuh"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/tiled_scores.cuh"

// Attention on matrix units, after FlashAttention-2 (Dao 2023). A warp has 16 queries, or in the backward pass 16 keys,
// in shared memory and iterates over the other side 32 rows at a time, which its block loads into shared memory too.
// Scores exist only in registers. The order of summation is fixed, so results do not depend on the rest of the batch.
// Rows of its tile that a query does not see are multiplied by 0: if they are not finite, the query's result is NaN.
namespace dragoman::cuda {
namespace {

constexpr int most_threads = 128;  // of a block

/// Blocks that a multiprocessor shall hold at a time, so that some compute while others wait for memory: the more, the
/// fewer registers a thread may have (65,536 / 128 / 4 = 128). Wide heads (16 bits: beyond 64, f32: beyond 32) need as
/// many as there are. On GPUs with 100 KiB of shared memory (8.6, 8.9), three blocks of the backward pass fit.
template <class T, int size>
constexpr int blocks = sizeof(T) * size <= 128 ? 4 : 1;

__device__ int rows_of_block() { return int(blockDim.x) / warp_size * rows_of_warp; }
__device__ int row_of_warp() { return int(threadIdx.x) / warp_size * rows_of_warp; }

/// One head's rows of a matrix with a row for each query, from query i of the sentence on, or each key.
__device__ HeadRows queries_from(const Sentence& at, const Values& x, int i, int64_t width) {
  return {x, at.first_query + i, at.queries - i, at.head, width};
}
__device__ HeadRows keys_from(const Sentence& at, const Values& x, int j, int64_t width) {
  return {x, at.first_key + j, at.keys - j, at.head, width};
}

/// What the kernels keep in shared memory, for heads of size up to `size`.
template <class T, int size>
struct Tiles {
  Tile<T, size> first, second;          // rows of two matrices of the other side, for all warps of the block
  Tile<T, size> own_first, own_second;  // this warp's rows of one or two matrices

  static int64_t bytes(int warps, int own) { return Tile<T, size>::bytes(2 * span + own * warps * rows_of_warp); }
  __device__ Tiles()
      : first{dynamic_shared<Neighbours<T>>()},
        second(first.from(span)),
        own_first(second.from(span + row_of_warp())),
        own_second(own_first.from(rows_of_block())) {}

  /// Begins to fill them with rows of x and y, once all warps have used the previous rows.
  __device__ void load(const HeadRows& x, const HeadRows& y) const {
    __syncthreads();
    stage<span>(first, x, int(threadIdx.x), int(blockDim.x));
    stage<span>(second, y, int(threadIdx.x), int(blockDim.x));
  }
  __device__ static void load_own(const Tile<T, size>& own, const HeadRows& x) {
    stage<rows_of_warp>(own, x, int(threadIdx.x) % warp_size, warp_size);
  }
  __device__ void wait() const {
    wait_for_copies();
    __syncthreads();
  }
};

// y_i = Σ_j p_ij v_j,  p_i = softmax_j(score_ij). 0 for a query that sees no key.
template <class T, int size, bool biased>
__global__ void __launch_bounds__(most_threads, (blocks<T, size>)) forward_kernel(Heads a, Put y, View<float> lse) {
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int begin = int(blockIdx.z) * rows, mine = begin + row_of_warp();
  if (begin >= at.queries) return;
  const Tiles<T, size> tiles;
  tiles.load_own(tiles.own_first, queries_from(at, s.q, mine, s.K));
  const RowRange seen = seen_by(a, at, begin, rows), own = seen_by(a, at, mine, rows_of_warp);
  const Partners partners = Partners::of_queries(a, at, mine);
  const HeadRows k = keys_from(at, s.k, 0, s.K), v = keys_from(at, s.v, 0, s.V);
  float sums[size / 8][4] = {};
  RowSoftmax<T> softmax[2];
  for (int key = seen.begin / span * span; key < seen.end; key += span) {
    tiles.load(k.from(key), v.from(key));
    tiles.wait();
    if (key >= own.end || key + span <= own.begin) continue;
    Scores p = {};
    add_product(p, tiles.own_first, tiles.first);
    to_scores<false, biased>(p, a, at, partners, mine, key);
    softmax[0].take(p, sums, 0, s.scale);
    softmax[1].take(p, sums, 1, s.scale);
    if (a.mask.positions) Kept(a, at, mine, key, false).apply_to(p);
    add_product(sums, p, tiles.second);
  }
  wait_for_copies();  // of own rows, if there was nothing to see
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float total = row_reduce(softmax[r].sum, Plus{}), factor = total == 0 ? 0.f : 1 / total;
    const int i = mine + Lane().row(2 * r);
    if (Lane().t == 0 && i < at.queries)
      lse(at.first_query + i, at.head) = total == 0 ? 0.f : s.scale * softmax[r].top + logf(total);
#pragma unroll
    for (int j = 0; j < size / 8; ++j) sums[j][2 * r] *= factor, sums[j][2 * r + 1] *= factor;
  }
  HeadResults(y, at.first_query + mine, at.queries - mine, at.head, s.V).put(sums);
}

/// dy · y of a warp's row lane / 2. It uses dy as rounded for products, so that the gradients of a query's scores sum
/// to 0 as they should.
template <class T, int size>
__device__ float inner_product(const HeadRows& dy, const HeadRows& y) {
  const int lane = int(threadIdx.x) % warp_size, row = lane / 2;
  float sum = 0;
  const auto is_usual = [](const HeadRows& x) { return x.wide && (x.type == DType::f32 || x.type == dtype_of<T>()); };
  if (is_usual(dy) && is_usual(y)) {
    const DType type_of_dy = dy.type == DType::f32 ? DType::f32 : dtype_of<T>();
    const DType type_of_y = y.type == DType::f32 ? DType::f32 : dtype_of<T>();
    constexpr int at_once = 4;
#pragma unroll 1
    for (int first = 0; first < size; first += 8 * at_once) {
      StoredFour of_dy[at_once], of_y[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const int d = first + 8 * i + lane % 2 * 4;
        if (!dy.has(row, d)) continue;
        of_dy[i] = load_stored(dy.row(row), d, d + 4, true);
        of_y[i] = load_stored(y.row(row), d, d + 4, true);
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const Four a = of_dy[i].widened(type_of_dy), b = of_y[i].widened(type_of_y);
        const Neighbours<T> left(a.at[0], a.at[1]), right(a.at[2], a.at[3]);
        sum += left.first() * b.at[0] + left.second() * b.at[1] + right.first() * b.at[2] + right.second() * b.at[3];
      }
    }
  } else {
#pragma unroll 1
    for (int d = lane % 2; d < y.width; d += 2) sum += Neighbours<T>(dy(row, d), 0.f).first() * y(row, d);
  }
  return sum + __shfl_xor_sync(0xffffffffu, sum, 1);
}

/// The gradient of the scores' bias. The keys of a row differ in distance from its query and thus in column, except
/// that clipped distances share the first or last column; these two are summed separately.
struct BiasGradient {
  View<float> to;  // empty if not wanted
  int width;       // columns of a head
  float first[2] = {}, last[2] = {};

  __device__ BiasGradient(const View<float>& to, bool adds, const Sentence& at, int heads, int first_row)
      : to(to), width(int(to.cols) / heads) {
    if (!to || adds) return;
    for (int r = 0; r < rows_of_warp && first_row + r < at.queries; ++r)
      for (int c = int(threadIdx.x) % warp_size; c < width; c += warp_size)
        to(at.first_query + first_row + r, at.head * width + c) = 0;
    __syncwarp();
  }
  /// Adds those of the scores' gradients that exist. The warp's rows are queries from `row` on.
  __device__ void add(const Scores& gradients, const Partners& partners, const Sentence& at, int row, int key,
                      int reach) {
    each_score([&](int j, int e, int i, int of_key) {
      if (!partners.have(e, key + of_key)) return;
      const int distance = key - row + of_key - i;
      const int clipped = distance < -reach ? -reach : distance > reach ? reach : distance;
      if (clipped == -reach)
        first[e / 2] += gradients[j][e];
      else if (clipped == reach)
        last[e / 2] += gradients[j][e];
      else
        to(at.first_query + row + i, at.head * width + reach + clipped) += gradients[j][e];
    });
  }
  __device__ void finish(const Sentence& at, int first_row) {
    if (!to) return;
    const Lane lane;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float at_first = row_reduce(first[r], Plus{}), at_last = row_reduce(last[r], Plus{});
      const int i = first_row + lane.row(2 * r);
      if (lane.t != 0 || i >= at.queries) continue;
      to(at.first_query + i, at.head * width) += at_first;
      if (width > 1) to(at.first_query + i, at.head * width + width - 1) += at_last;
    }
  }
};

// With p the weights, m their dropout, dp_ij = m_ij · dy_i · v_j:  ds = p (dp - dy_i · y_i),  dq_i = Σ_j ds_ij k_j.
template <class T, int size, bool biased>
__global__ void __launch_bounds__(most_threads, (blocks<T, size>)) query_kernel(Heads a, AttentionGradients b) {
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int begin = int(blockIdx.z) * rows, mine = begin + row_of_warp();
  if (begin >= at.queries) return;
  const Tiles<T, size> tiles;
  const HeadRows dy = queries_from(at, b.dy, mine, s.V);
  const HeadRows k = keys_from(at, s.k, 0, s.K), v = keys_from(at, s.v, 0, s.V);
  tiles.load_own(tiles.own_first, queries_from(at, s.q, mine, s.K));
  tiles.load_own(tiles.own_second, dy);
  const RowRange seen = seen_by(a, at, begin, rows), own = seen_by(a, at, mine, rows_of_warp);
  const Partners partners = Partners::of_queries(a, at, mine);
  const float unit = s.scale * exponent_unit<T>;
  float inner[2] = {}, lse[2] = {}, dq[size / 8][4] = {};
  BiasGradient bias(biased ? b.dbias.numbers : View<float>{}, b.dbias_adds, at, s.heads, mine);
  const int first = seen.begin / span * span;
  for (int key = first; key < seen.end; key += span) {
    tiles.load(k.from(key), v.from(key));
    if (key == first) {  // while the rows are copied
      const float of_row = inner_product<T, size>(dy, queries_from(at, b.y, mine, s.V));
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = Lane().row(2 * r);
        inner[r] = __shfl_sync(0xffffffffu, of_row, 2 * row);
        if (mine + row >= at.queries) continue;
        lse[r] = exponent_unit<T> * b.lse(at.first_query + mine + row, at.head);
        if (Lane().t == 0) b.inner(at.first_query + mine + row, at.head) = inner[r];
      }
    }
    tiles.wait();
    if (key >= own.end || key + span <= own.begin) continue;
    Scores p = {}, dp = {};
    add_product(p, tiles.own_first, tiles.first);
    add_product(dp, tiles.own_second, tiles.second);
    if (a.mask.positions) Kept(a, at, mine, key, false).apply_to(dp);
    to_scores<false, biased>(p, a, at, partners, mine, key);
    each_score([&](int j, int e, int, int) {
      const float ds = power<T>(unit * p[j][e] - lse[e / 2]) * (dp[j][e] - inner[e / 2]) * s.scale;
      dp[j][e] = p[j][e] == -INFINITY ? 0.f : ds;
    });
    if (bias.to) bias.add(dp, partners, at, mine, key, int(s.reach));
    add_product(dq, dp, tiles.first);
  }
  wait_for_copies();
  bias.finish(at, mine);
  HeadResults(b.dq, at.first_query + mine, at.queries - mine, at.head, s.K).put(dq);
}

/// Of the queries whose rows are in shared memory.
struct OfQueries {
  float lse[span], inner[span];  // lse in units of `power`
};

// The same per key:  dk_j = Σ_i ds_ij q_i,  dv_j = Σ_i m_ij p_ij dy_i. Here the rows of scores are keys.
template <class T, int size, bool biased>
__global__ void __launch_bounds__(most_threads, (blocks<T, size>)) key_kernel(Heads a, AttentionGradients b) {
  __shared__ OfQueries queries;
  const Sentence at(a);
  const Scoring& s = a.scoring;
  const int rows = rows_of_block();
  const int begin = int(blockIdx.z) * rows, mine = begin + row_of_warp();
  if (begin >= at.keys) return;
  const Tiles<T, size> tiles;
  tiles.load_own(tiles.own_first, keys_from(at, s.k, mine, s.K));
  tiles.load_own(tiles.own_second, keys_from(at, s.v, mine, s.V));
  const Partners partners = Partners::of_keys(a, at, mine);
  const HeadRows q = queries_from(at, s.q, 0, s.K), dy = queries_from(at, b.dy, 0, s.V);
  const float unit = s.scale * exponent_unit<T>;
  float dk[size / 8][4] = {}, dv[size / 8][4] = {};
  for (int query = 0; query < at.queries; query += span) {
    const RowRange seen = seen_by(a, at, query, span);
    const auto visible = [&](int key, int count) { return key < seen.end && seen.begin < key + count; };
    if (!visible(begin, rows)) continue;
    tiles.load(q.from(query), dy.from(query));
    if (threadIdx.x < span) {
      const int i = query + int(threadIdx.x);
      queries.lse[threadIdx.x] = i < at.queries ? exponent_unit<T> * b.lse(at.first_query + i, at.head) : 0.f;
      queries.inner[threadIdx.x] = i < at.queries ? b.inner(at.first_query + i, at.head) : 0.f;
    }
    tiles.wait();
    if (!visible(mine, rows_of_warp)) continue;
    Scores p = {}, dp = {};
    add_product(p, tiles.own_first, tiles.first);
    add_product(dp, tiles.own_second, tiles.second);
    to_scores<true, biased>(p, a, at, partners, mine, query);
    const Kept kept(a, at, mine, query, true);
    each_score([&](int j, int e, int, int i) {  // the weight and the score's gradient
      const bool exists = p[j][e] != -INFINITY;
      const float weight = power<T>(unit * p[j][e] - queries.lse[i]), factor = kept.factor(j, e);
      const float ds = weight * (factor * dp[j][e] - queries.inner[i]) * s.scale;
      dp[j][e] = exists ? ds : 0.f;
      p[j][e] = exists ? weight * factor : 0.f;
    });
    add_product(dv, p, tiles.second);
    add_product(dk, dp, tiles.first);
  }
  wait_for_copies();
  HeadResults(b.dk, at.first_key + mine, at.keys - mine, at.head, s.K).put(dk);
  HeadResults(b.dv, at.first_key + mine, at.keys - mine, at.head, s.V).put(dv);
}

int64_t widest_head(const Backend::Attention& a) { return std::max(a.q.cols(), a.v.cols()) / a.shape.heads; }

/// Calls f.operator()<T, size, biased>() with the operand type, the smallest size that holds a head, and whether scores
/// have a bias.
template <class F>
void for_tiles(const Backend::Attention& a, const F& f) {
  const int64_t widest = widest_head(a);
  const auto run = [&]<class T, int size>() {
    a.bias ? f.template operator()<T, size, true>() : f.template operator()<T, size, false>();
  };
  for_factor(a.factors, [&]<class T>() {
    if (widest <= 32) return run.template operator()<T, 32>();
    if (widest <= 64) return run.template operator()<T, 64>();
    if constexpr (sizeof(T) == 2) run.template operator()<T, 128>();
  });
}

// As many warps as a sentence of mean length keeps busy, up to 4: the warps of a block share what is in shared memory.
// Longer sentences take several blocks.
int warps_for(const Spans& rows) {
  const int64_t mean = blocks_of(rows.rows(), std::max(rows.sentences(), 1));
  return int(std::clamp<int64_t>(blocks_of(mean, rows_of_warp), 1, most_threads / warp_size));
}

/// `own`: how many matrices each warp has 16 rows of.
template <class T, int size, class... P, class... A>
void launch_on(const Spans& rows, int heads, int own, void (*kernel)(P...), const A&... arguments) {
  const int warps = warps_for(rows);
  launch(kernel, grid_of(rows, heads, warps * rows_of_warp), dim3(unsigned(warps * warp_size)),
         Tiles<T, size>::bytes(warps, own), arguments...);
}

}  // namespace

bool on_matrix_units(const Backend::Attention& a) {
  const int64_t widest = a.factors == DType::f32 ? 64 : 128;
  return has_matrix_units() && !a.score_vector && !a.weights && !a.by_distance && widest_head(a) <= widest;
}

void tiled_attention(const Backend::Attention& a) {
  for_tiles(a, [&]<class T, int size, bool biased>() {
    launch_on<T, size>(a.shape.queries, a.shape.heads, 1, forward_kernel<T, size, biased>, Heads(a), Put(Grad{a.y}),
                       view<float>(a.lse));
  });
}

void tiled_attention_backward(const Backend::Attention& a, const AttentionGradients& b) {
  for_tiles(a, [&]<class T, int size, bool biased>() {
    const Heads heads(a);
    launch_on<T, size>(a.shape.queries, a.shape.heads, 2, query_kernel<T, size, biased>, heads, b);
    if (b.dk || b.dv) launch_on<T, size>(a.shape.keys, a.shape.heads, 2, key_kernel<T, size, biased>, heads, b);
  });
}

}  // namespace dragoman::cuda
