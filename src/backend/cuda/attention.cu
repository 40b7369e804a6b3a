#include "backend/backend.h"
#include "backend/cuda/attention.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/linear.h"

namespace dragoman::cuda {
namespace {

constexpr int warps = 4;  // per block; each handles a query, or in the backward pass a key

__device__ int lane() { return int(threadIdx.x % warp_size); }

/// The position in its sentence of the row that a warp handles.
struct Position : Sentence {
  int64_t number;

  __device__ explicit Position(const Heads& a)
      : Sentence(a), number(blockIdx.z * int64_t{warps} + threadIdx.x / warp_size) {}
};

/// Query i and key j of a sentence: their score, and the dropout factor of their weight.
struct Pair {
  int64_t row;  // of the query
  float score, keep;

  __device__ Pair(const Heads& a, const Position& at, int64_t i, int64_t j) : row(at.first_query + i) {
    const Scoring& s = a.scoring;
    score = s.score(s.query(row, at.head), s.key(at.first_key + j, at.head), row, at.head, j - i);
    keep = a.mask.factor(row, a.stream(at.head), j);
  }
};

__device__ float* shared_of_warp(int64_t floats) {
  float* mine = dynamic_shared<float>() + threadIdx.x / warp_size * floats;
  for (int64_t d = lane(); d < floats; d += warp_size) mine[d] = 0;
  __syncwarp();
  return mine;
}

// Index of the first weight (nq,nk) of the block's sentence and head.
__device__ int64_t weights_before(const Heads& a, const Position& at) {
  int64_t pairs = 0;
  for (unsigned s = unsigned(lane()); s < blockIdx.x; s += warp_size)
    pairs += int64_t{a.queries[s + 1] - a.queries[s]} * (a.keys[s + 1] - a.keys[s]);
  return warp_reduce(pairs, Plus{}) * a.scoring.heads + int64_t{at.head} * at.queries * at.keys;
}

// y_i = Σ_j p_ij v_j,  p_i = softmax_j(score_ij). 0 for a query that sees no key.
__global__ void attention_kernel(Heads a, Values y, View<float> lse, float* weights, ByDistance by_distance) {
  const Position at(a);
  const int64_t i = at.number, row = at.first_query + i, V = a.scoring.V;
  if (i >= at.queries) return;
  float* sums = shared_of_warp(V);
  const Range seen = a.visible.keys(i, at.keys);
  const bool wide = in_fours(a.scoring.value(0, at.head)) && a.scoring.v.stride % 4 == 0;
  OnlineSoftmax softmax;
  for (int64_t first = seen.begin; first < seen.end; first += warp_size) {
    const int64_t j = first + lane();
    const bool sees = j < seen.end;
    const Pair pair(a, at, i, sees ? j : first);
    softmax.take<16>(pair.score, sees, pair.keep, int(at.first_key + j), sums, V,
                     [&](int of_key, int64_t d) { return load_four(a.scoring.value(of_key, at.head), d, V, wide); });
  }
  __syncwarp();
  const bool any = seen.begin < seen.end;
  const float log_sum = any ? softmax.top + logf(softmax.sum) : 0.f;
  for (int64_t d = lane(); d < V; d += warp_size) y.set(row, at.head * V + d, any ? sums[d] / softmax.sum : 0.f);
  if (lane() == 0) lse(row, at.head) = log_sum;
  if (by_distance) by_distance.clear(row, at.head);
  for (int64_t first = seen.begin; by_distance && first < seen.end; first += warp_size) {
    const int64_t j = first + lane();
    const bool sees = j < seen.end;
    const Pair pair(a, at, i, sees ? j : first);
    by_distance.add(row, at.head, j - i, expf(pair.score - log_sum) * pair.keep, sees);
  }
  if (!weights) return;
  float* of_row = weights + weights_before(a, at) + i * at.keys;
  for (int64_t j = lane(); j < at.keys; j += warp_size)
    of_row[j] = seen.begin <= j && j < seen.end ? expf(Pair(a, at, i, j).score - log_sum) : 0.f;
}

void attention(const Backend::Attention& a) {
  if (on_matrix_units(a)) return tiled_attention(a);
  const Heads heads(a);
  launch(attention_kernel, grid_of(a.shape.queries, a.shape.heads, warps), dim3(warps * warp_size),
         warps * heads.scoring.V * int64_t{sizeof(float)}, heads, Values(a.y), view<float>(a.lse),
         a.weights ? static_cast<float*>(a.weights.data()) : nullptr, ByDistance(a.by_distance, a.shape.heads));
}

/// The gradient of a pair's score, with weight p and dropout factor m: dp = m · dy_i · v_j,  ds = p (dp - dy_i · y_i);
/// by_distance adds its own gradient times m to dp.
struct PairGradient {
  float score = 0, weight = 0;  // ds times the scale; m · p, the factor of dy_i in dv_j

  PairGradient() = default;
  __device__ PairGradient(const Heads& a, const AttentionGradients& b, const Position& at, int64_t i, int64_t j,
                          float inner) {
    const Pair pair(a, at, i, j);
    const float p = expf(pair.score - b.lse(pair.row, at.head));
    const Row dy = b.dy.row(pair.row, at.head * a.scoring.V), v = a.scoring.value(at.first_key + j, at.head);
    const float dp = dot(dy, v, a.scoring.V) + (b.dby_distance ? b.dby_distance.at(pair.row, at.head, j - i) : 0.f);
    score = p * (pair.keep * dp - inner) * a.scoring.scale;
    weight = p * pair.keep;
  }
};

// Accumulates for each column, over the lanes' pairs, ds · d score / d(this row's element). The derivative is the other
// row's element for a dot product, and w (1 - tanh²(q + k)) for an additive score, whose w gets ds · tanh.
template <class F>
__device__ void gather(const Scoring& s, int head, float ds, const Row& mine, float* sums, float* vector_sums,
                       const F& other) {
  for (int64_t d = 0; d < s.K; d += warp_size) {
    const int64_t column = d + lane();
    const bool inside = column < s.K;
    float total = 0, vector_total = 0;
    for (int j = 0; j < warp_size; ++j) {
      const float g = __shfl_sync(0xffffffffu, ds, j);
      if (g == 0 || !inside) continue;
      const float x = other(j)[column];
      if (!s.vector) {
        total += g * x;
        continue;
      }
      const float t = tanhf(mine[column] + x);
      total += g * s.vector[head * s.K + column] * (1 - t * t);
      vector_total += g * t;
    }
    if (!inside) continue;
    sums[column] += total;
    if (vector_sums) vector_sums[column] += vector_total;
  }
}

// One warp per query: dq, the gradients of the bias and the score vector, and dy · y for the keys' kernel.
__global__ void query_gradient_kernel(Heads a, AttentionGradients b) {
  const Position at(a);
  const Scoring& s = a.scoring;
  const int64_t i = at.number, row = at.first_query + i;
  if (i >= at.queries) return;
  float *dq = shared_of_warp(2 * s.K), *dvector = b.dvector ? dq + s.K : nullptr;
  float inner = 0;
  for (int64_t d = lane(); d < s.V; d += warp_size) inner += b.dy(row, at.head * s.V + d) * b.y(row, at.head * s.V + d);
  inner = warp_sum(inner);
  if (lane() == 0) b.inner(row, at.head) = inner;
  if (b.dbias && !b.dbias_adds) b.dbias.clear(row, at.head);
  __syncwarp();
  const Range seen = a.visible.keys(i, at.keys);
  for (int64_t first = seen.begin; first < seen.end; first += warp_size) {
    const int64_t j = first + lane();
    const bool sees = j < seen.end;
    const PairGradient g = sees ? PairGradient(a, b, at, i, j, inner) : PairGradient();
    if (b.dbias) b.dbias.add(row, at.head, j - i, g.score, sees);
    gather(s, at.head, g.score, s.query(row, at.head), dq, dvector,
           [&](int of_lane) { return s.key(at.first_key + first + of_lane, at.head); });
  }
  for (int64_t d = lane(); d < s.K; d += warp_size) {
    b.dq(row, at.head * s.K + d, dq[d]);
    if (b.dvector) b.dvector(row, at.head * s.K + d) = dvector[d];
  }
}

// One warp per key: dk and dv.
__global__ void key_gradient_kernel(Heads a, AttentionGradients b) {
  const Position at(a);
  const Scoring& s = a.scoring;
  const int64_t j = at.number, row = at.first_key + j;
  if (j >= at.keys) return;
  float *dk = shared_of_warp(s.K + s.V), *dv = dk + s.K;
  for (int64_t first = 0; first < at.queries; first += warp_size) {
    const int64_t i = first + lane();
    const Range seen = a.visible.keys(i, at.keys);
    const bool sees = i < at.queries && seen.begin <= j && j < seen.end;
    if (warp_max(sees ? 1.f : 0.f) == 0) continue;
    const PairGradient g = sees ? PairGradient(a, b, at, i, j, b.inner(at.first_query + i, at.head)) : PairGradient();
    gather(s, at.head, g.score, s.key(row, at.head), dk, nullptr,
           [&](int of_lane) { return s.query(at.first_query + first + of_lane, at.head); });
    for (int64_t d = 0; d < s.V; d += warp_size) {
      const int64_t column = d + lane();
      float total = 0;
      for (int of_lane = 0; of_lane < warp_size; ++of_lane) {
        const float weight = __shfl_sync(0xffffffffu, g.weight, of_lane);
        if (weight != 0 && column < s.V)
          total += weight * b.dy(at.first_query + first + of_lane, at.head * s.V + column);
      }
      if (column < s.V) dv[column] += total;
    }
  }
  for (int64_t d = lane(); d < s.K; d += warp_size) b.dk(row, at.head * s.K + d, dk[d]);
  for (int64_t d = lane(); d < s.V; d += warp_size) b.dv(row, at.head * s.V + d, dv[d]);
}

void attention_backward(const Backend::AttentionBackward& b) {
  const Backend::Attention& f = b.forward;
  const Heads heads(f);
  const int64_t N = f.q.rows(), H = f.shape.heads, K = heads.scoring.K, V = heads.scoring.V;
  auto* scratch = static_cast<float*>(f.scratch.data());
  const Tensor dvector(nullptr, scratch + N * H, {N, f.q.cols()}, DType::f32, f.q.memory());
  const AttentionGradients back{Put(b.dq),
                                Put(b.dk),
                                Put(b.dv),
                                ByDistance(b.dbias.tensor, f.shape.heads),
                                b.dbias.adds(),
                                Values(b.dy),
                                Values(f.y),
                                view<const float>(f.lse),
                                {scratch, N, H, H},
                                b.dscore_vector ? view<float>(dvector) : View<float>{},
                                ByDistance(b.dby_distance, f.shape.heads)};
  if (on_matrix_units(f)) return tiled_attention_backward(f, back);
  constexpr auto bytes = int64_t{warps * sizeof(float)};
  launch(query_gradient_kernel, grid_of(f.shape.queries, f.shape.heads, warps), dim3(warps * warp_size), bytes * 2 * K,
         heads, back);
  if (b.dk || b.dv)
    launch(key_gradient_kernel, grid_of(f.shape.keys, f.shape.heads, warps), dim3(warps * warp_size), bytes * (K + V),
           heads, back);
  if (b.dscore_vector) column_sums(b.dscore_vector, dvector);
}

// Backward scratch: dy · y of each query and head, and each query's contribution to the score vector's gradient.
int64_t scratch_bytes(const AttentionShape& shape, int64_t key_size, int64_t) {
  const int64_t of_query = shape.heads * (shape.score == Score::additive ? 1 + key_size : 1);
  return shape.queries.rows() * of_query * int64_t{sizeof(float)};
}

// Rotates the pair (x_c, x_{c+K/2}) of a head by the angle θ with sin θ, cos θ = table_c, table_{c+K/2}.
void rotate(const Tensor& y, const Tensor& x, const Tensor& table, const Tensor& positions, int heads, int direction) {
  const auto Y = view<float>(y);
  const auto X = view<const float>(x), sinusoids = view<const float>(table);
  const int32_t* token = integers(positions);
  const int64_t K = X.cols / heads, half = K / 2;
  const auto sign = float(direction);
  each_element(X.rows, heads * half, [=] __device__(int64_t n, int64_t pair) {
    const int64_t c = pair % half, at = pair / half * K + c;
    const float sine = sign * sinusoids(token[2 * n + 1], c), cosine = sinusoids(token[2 * n + 1], c + half);
    const float a = X(n, at), b = X(n, at + half);
    Y(n, at) = cosine * a - sine * b;
    Y(n, at + half) = sine * a + cosine * b;
  });
}

}  // namespace

void install_attention(Backend& b) {
  b.attention_scratch = scratch_bytes;
  b.attention = attention;
  b.attention_backward = attention_backward;
  b.rotate = rotate;
}

}  // namespace dragoman::cuda
