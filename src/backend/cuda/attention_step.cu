#include "backend/backend.h"
#include "backend/cuda/attention.cuh"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/neighbours.cuh"

namespace dragoman::cuda {
namespace {

constexpr int most_warps = 4;  // per block; each handles one head of a row

/// Where each row finds its keys (StepKeys).
struct Past {
  const int32_t *length, *begin, *position;  // (R) each; begin or table; position may be null
  View<const int32_t> table;
  int window;

  __device__ int key_row(int64_t r, int64_t t) const { return table ? table(r, t) : begin[r] + int(t); }
  __device__ int64_t position_of(int64_t r) const { return position ? position[r] : length[r] - 1; }
  __device__ Range seen(int64_t r) const { return Visibility{.window = window}.keys(position_of(r), length[r]); }
};

/// The rows' own keys and values, and where they go.
struct New {
  Values k, v;
  const int32_t* rows;  // or null
};

struct Step {
  Scoring scoring;
  New own;
  Past past;
  Values y;
  ByDistance by_distance;
  bool wide;  // whether q, y and what is new are in fours

  __device__ int head() const { return int(blockIdx.y * (blockDim.x / warp_size) + threadIdx.x / warp_size); }
};

/// Eight adjacent numbers of a row. A is the type of their numbers, if known.
using Eight = Adjacent<float, 8>;

template <class A>
__device__ Eight load_eight(const Values& x, int64_t n, int64_t d, bool wide) {
  Eight eight;
  for (int j = 0; j < 8; j += 4) {
    const Four four = load_four<A>(x, n, d + j, wide);
    eight.pairs[j / 2] = {four.at[0], four.at[1]}, eight.pairs[j / 2 + 1] = {four.at[2], four.at[3]};
  }
  return eight;
}
template <class A>
__device__ void store_eight(const Values& x, int64_t n, int64_t d, bool wide, const Eight& eight) {
  for (int j = 0; j < 8; j += 4) {
    const auto &low = eight.pairs[j / 2], &high = eight.pairs[j / 2 + 1];
    store_four<A>(x, n, d + j, wide, {low.x, low.y, high.x, high.y});
  }
}
bool in_eights(const Values& x, int64_t width) {
  const size_t bytes = 8 * (x.type == DType::f32 ? sizeof(float) : sizeof(uint16_t));
  return reinterpret_cast<uintptr_t>(x.data) % bytes == 0 && x.stride % 8 == 0 && width % 8 == 0;
}

/// This lane's eight columns of cached keys or values, stored as T.
template <class T>
struct Cached {
  const T* columns;
  int stride;

  __device__ Cached(const Values& x, int64_t column)
      : columns(static_cast<const T*>(x.data) + column), stride(int(x.stride)) {}
  __device__ Adjacent<T, 8> operator()(int row) const {
    return *reinterpret_cast<const Adjacent<T, 8>*>(columns + int64_t{row} * stride);
  }
};

template <class T>
__device__ float dot(const Eight& a, const Adjacent<T, 8>& b) {
  float sum = 0;
  for (int p = 0; p < 4; ++p) sum += a.pairs[p].x * b.pairs[p].first() + a.pairs[p].y * b.pairs[p].second();
  return sum;
}

/// How `lanes` of a warp, each with eight columns, read a row together. Each group of lanes reads several rows before
/// it looks at any: a step has so few warps that it mostly waits for memory.
template <int lanes>
struct Reading {
  static constexpr int groups = warp_size / lanes, rows = lanes < 8 ? lanes : 8, at_once = rows * groups;

  /// The i-th row of this group among `at_once` rows.
  __device__ static int row(int i) { return i * groups + int(threadIdx.x % warp_size) / lanes; }
  /// The sum over the lanes of a group, in all of them.
  __device__ static float sum_of_lanes(float x) {
    for (int other = lanes / 2; other > 0; other /= 2) x += __shfl_xor_sync(0xffffffffu, x, other);
    return x;
  }
  /// Joins this lane's number with that of the same lane of all groups.
  template <class Join>
  __device__ static float over_groups(float x, Join join) {
    for (int other = lanes; other < warp_size; other *= 2) x = join(x, __shfl_xor_sync(0xffffffffu, x, other));
    return x;
  }
};

/// A mean of values whose weights are the softmax of their scores, which arrive a few at a time (Milakov & Gimelshein
/// 2018): this lane's columns, of the rows of its group.
template <int lanes>
struct Mean {
  using Rows = Reading<lanes>;
  float top = -INFINITY, sum = 0;
  Eight total = {};

  /// A score of -INFINITY leaves a row out.
  template <class T>
  __device__ void take(const float (&scores)[Rows::rows], const Adjacent<T, 8> (&values)[Rows::rows]) {
    float highest = top;
    for (const float score : scores) highest = fmaxf(highest, score);
    highest = Rows::over_groups(highest, Larger{});
    const float base = highest == -INFINITY ? 0.f : highest, shrink = expf(top - base);
    top = highest;
    sum *= shrink;
    for (auto& pair : total.pairs) pair.x *= shrink, pair.y *= shrink;
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
      const float weight = expf(scores[i] - base);
      sum += weight;
      for (int p = 0; p < 4; ++p) {
        total.pairs[p].x += weight * values[i].pairs[p].first();
        total.pairs[p].y += weight * values[i].pairs[p].second();
      }
    }
  }
  /// 0 / 0 if all scores are -INFINITY.
  __device__ Eight of_all_groups() const {
    const float scale = 1 / Rows::over_groups(sum, Plus{});
    Eight mean;
    for (int p = 0; p < 4; ++p)
      mean.pairs[p] = {scale * Rows::over_groups(total.pairs[p].x, Plus{}),
                       scale * Rows::over_groups(total.pairs[p].y, Plus{})};
    return mean;
  }
};

// The decoder's common case: dot products of heads in eights. All types add in the same order. A: the type of q, y and
// what is new, if it is T. The bounds let the compiler use as many registers as its reads need.
template <class T, class A, int lanes>
__global__ void __launch_bounds__(most_warps* warp_size) step_kernel(Step a) {
  using Rows = Reading<lanes>;
  const Scoring& s = a.scoring;
  const int lane = int(threadIdx.x % warp_size), d = 8 * (lane % lanes), head = a.head();
  const int64_t r = blockIdx.x, key_column = head * s.K + d, value_column = head * s.V + d;
  const bool has_key = d < s.K, has_value = d < s.V;
  if (head >= s.heads) return;
  const Range seen = a.past.seen(r);
  const int end = int(seen.end), position = int(a.past.position_of(r));
  Eight query = {};
  if (has_key) query = load_eight<A>(s.q, r, key_column, a.wide);
  for (auto& pair : query.pairs) pair.x *= s.scale, pair.y *= s.scale;
  if (a.own.rows && lane < lanes) {
    const int64_t row = a.own.rows[r];
    Eight k = {}, v = {};
    if (has_key) k = load_eight<A>(a.own.k, r, key_column, a.wide);
    if (has_value) v = load_eight<A>(a.own.v, r, value_column, a.wide);
    if (has_key) store_eight<T>(s.k, row, key_column, true, k);
    if (has_value) store_eight<T>(s.v, row, value_column, true, v);
  }
  __syncwarp();
  const Cached<T> keys(s.k, key_column), values(s.v, value_column);
  Mean<lanes> mean;
  for (int first = int(seen.begin); first < end; first += Rows::at_once) {
    const int row_of_lane = a.past.key_row(r, std::min(first + lane, end - 1));
    Adjacent<T, 8> k[Rows::rows], v[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
      const int row = __shfl_sync(0xffffffffu, row_of_lane, Rows::row(i));
      const bool sees = first + Rows::row(i) < end;
      k[i] = sees && has_key ? keys(row) : Adjacent<T, 8>{};
      v[i] = sees && has_value ? values(row) : Adjacent<T, 8>{};
    }
    float scores[Rows::rows] = {};
    if (s.bias)
      for (int i = 0; i < Rows::rows; ++i)
        scores[i] = s.bias_of(r, head, std::min(first + Rows::row(i), end - 1) - position) * s.scale;
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) scores[i] += Rows::sum_of_lanes(dot(query, k[i]));
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i)
      if (first + Rows::row(i) >= end) scores[i] = -INFINITY;
    mean.take(scores, v);
  }
  const Eight y = mean.of_all_groups();
  if (lane < lanes && has_value) store_eight<A>(a.y, r, value_column, a.wide, seen.begin < end ? y : Eight{});
}

// Everything else: additive scores, weights by distance, and heads of other sizes.
__global__ void any_step_kernel(Step a) {
  const Scoring& s = a.scoring;
  const int64_t r = blockIdx.x;
  const int head = a.head(), lane = int(threadIdx.x % warp_size);
  if (head >= s.heads) return;
  float* sums = dynamic_shared<float>() + threadIdx.x / warp_size * s.V;
  for (int64_t d = lane; d < s.V; d += warp_size) sums[d] = 0;
  if (a.own.rows) {
    const int64_t row = a.own.rows[r], k = head * s.K, v = head * s.V;
    for (int64_t d = lane; d < s.K; d += warp_size) s.k.set(row, k + d, a.own.k(r, k + d));
    for (int64_t d = lane; d < s.V; d += warp_size) s.v.set(row, v + d, a.own.v(r, v + d));
  }
  __syncwarp();
  const Range seen = a.past.seen(r);
  const bool wide = in_fours(s.value(0, head)) && s.v.stride % 4 == 0;
  OnlineSoftmax softmax;
  for (int64_t first = seen.begin; first < seen.end; first += warp_size) {
    const int64_t t = first + lane;
    const bool sees = t < seen.end;
    const int row = a.past.key_row(r, sees ? t : first);
    const float score = s.score(s.query(r, head), s.key(row, head), r, head, t - a.past.position_of(r));
    softmax.take<16>(score, sees, 1, row, sums, s.V,
                     [&](int of_key, int64_t d) { return load_four(s.value(of_key, head), d, s.V, wide); });
  }
  __syncwarp();
  const bool any = seen.begin < seen.end;  // if not, y is 0; if all visible scores are NaN, 0 / 0 keeps the NaN
  for (int64_t d = lane; d < s.V; d += warp_size) a.y.set(r, head * s.V + d, any ? sums[d] / softmax.sum : 0.f);
  if (!a.by_distance) return;
  a.by_distance.clear(r, head);
  for (int64_t first = seen.begin; first < seen.end; first += warp_size) {
    const int64_t t = first + lane, distance = t - a.past.position_of(r);
    const bool sees = t < seen.end;
    const int row = a.past.key_row(r, sees ? t : first);
    const float score = s.score(s.query(r, head), s.key(row, head), r, head, distance);
    a.by_distance.add(r, head, distance, expf(score - softmax.top) / softmax.sum, sees);
  }
}

template <class T, class A>
auto kernel_for(int64_t width) {
  return width <= 32    ? step_kernel<T, A, 4>
         : width <= 64  ? step_kernel<T, A, 8>
         : width <= 128 ? step_kernel<T, A, 16>
                        : step_kernel<T, A, 32>;
}

void attention_step(const Backend::AttentionStep& a) {
  const int64_t K = a.q.cols() / a.heads, V = a.v.cols() / a.heads;
  const Scoring scoring{Values(a.q),
                        Values(a.k),
                        Values(a.v),
                        view<const float>(a.bias),
                        view<const float>(a.score_vector).data,
                        a.heads,
                        K,
                        V,
                        float(score_scale(a.score, K)),
                        a.bias ? DistanceBias::reach(a.bias, a.heads) : 0};
  const Past past{integers(a.keys.length), a.keys.begin ? integers(a.keys.begin) : nullptr,
                  a.keys.position ? integers(a.keys.position) : nullptr,
                  a.keys.table ? view<const int32_t>(a.keys.table) : View<const int32_t>{}, a.window};
  const New own{Values(a.new_k), Values(a.new_v), a.new_rows ? integers(a.new_rows) : nullptr};
  const Values y(a.y);
  const bool wide = in_fours(scoring.q) && in_fours(y) && in_fours(own.k) && in_fours(own.v);
  const Step step{scoring, own, past, y, ByDistance(a.by_distance, a.heads), wide};

  const int warps = std::min(a.heads, most_warps);
  const auto run = [&](auto kernel, int64_t shared) {
    launch(kernel, dim3(unsigned(y.rows), blocks_of(a.heads, warps)), dim3(unsigned(warps * warp_size)), shared, step);
  };
  if (scoring.vector || a.by_distance || scoring.k.type != scoring.v.type || std::max(K, V) > 8 * warp_size ||
      !in_eights(scoring.k, K) || !in_eights(scoring.v, V))
    return run(any_step_kernel, warps * V * int64_t{sizeof(float)});
  for_factor(a.k.dtype(), [&]<class T>() {
    const bool same = wide && all_are(a.k.dtype(), {scoring.q, y, own.k, own.v});
    run(same ? kernel_for<T, T>(std::max(K, V)) : kernel_for<T, Unknown>(std::max(K, V)), 0);
  });
}

}  // namespace

void install_attention_step(Backend& b) {
  b.attention_step_scratch = [](int, int64_t) -> int64_t { return 0; };
  b.attention_step = attention_step;
}

}  // namespace dragoman::cuda
