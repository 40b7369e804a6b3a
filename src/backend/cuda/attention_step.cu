#include "backend/backend.h"
#include "backend/cuda/attention.cuh"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/families.h"

namespace dragoman::cuda {
namespace {

constexpr int warps = 4;  // per block; each handles one head of one row

/// Where each row finds its keys (StepKeys).
struct Past {
  const int32_t *length, *begin, *position;  // (R) each; begin or table; position may be null
  View<const int32_t> table;

  __device__ int64_t key_row(int64_t r, int64_t t) const { return table ? table(r, t) : begin[r] + t; }
};

/// The rows' own keys and values, and where they go.
struct New {
  Values k, v;
  const int32_t* rows;  // or null

  __device__ void write(const Scoring& s, int64_t r, int head, unsigned lane) const {
    const int64_t row = rows[r];
    for (int64_t d = head * s.K + lane; d < (head + 1) * s.K; d += warp_size) s.k.set(row, d, k(r, d));
    for (int64_t d = head * s.V + lane; d < (head + 1) * s.V; d += warp_size) s.v.set(row, d, v(r, d));
  }
};

/// Cached keys or values of a head. If T is known, scores are products and rows in fours, so that a row is read without
/// branches and the reads of several rows overlap.
template <class T>
struct Cached {
  Values of;
  int64_t column, width;

  __device__ Cached(const Values& of, int head, int64_t width) : of(of), column(head * width), width(width) {}
  /// Columns d to d + 3 of a row, d < width.
  __device__ Four operator()(int row, int64_t d) const {
    if constexpr (known<T>) {
      const auto stored = *reinterpret_cast<const FourOf<T>*>(of.at<T>(row, column + d));
      return {{float(stored.at[0]), float(stored.at[1]), float(stored.at[2]), float(stored.at[3])}};
    } else {
      return load_four(of.row(row, column), d, width, false);
    }
  }
};

/// The sum of the score that is still to be scaled (Scoring::score) of a query and the key of this lane, which is in
/// `row` of the cache. All lanes call: as in OnlineSoftmax, `lanes` of them read a row together.
template <int lanes, class T>
__device__ float product_with(const Cached<T>& keys, int row, const Row& query, const float* vector) {
  const int lane = int(threadIdx.x % warp_size);
  constexpr int groups = warp_size / lanes;
  const bool wide = in_fours(query);
  float mine = 0;
  for (int64_t first = 0; first < keys.width; first += 4 * lanes) {
    const int64_t d = first + 4 * (lane % lanes);
    const bool inside = d < keys.width;
    const Four q = inside ? load_four(query, d, keys.width, wide) : Four{};
    const Four w = inside && !known<T> && vector ? load_four(vector, d, keys.width, false) : Four{};
#pragma unroll 8
    for (int i = 0; i < lanes; ++i) {
      const int of_group = __shfl_sync(0xffffffffu, row, i * groups + lane / lanes);
      const Four k = inside ? keys(of_group, d) : Four{};
      float sum = 0;
      for (int e = 0; e < 4; ++e) sum += !known<T> && vector ? w.at[e] * tanhf(q.at[e] + k.at[e]) : q.at[e] * k.at[e];
      for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
      const float of_lane = __shfl_sync(0xffffffffu, sum, lane % groups * lanes);
      if (i == lane / groups) mine += of_lane;
    }
  }
  return mine;
}

template <class T, int lanes>
__global__ void step_kernel(Scoring s, New own, Past past, Visibility visible, Values y) {
  const int64_t item = blockIdx.x * int64_t{warps} + threadIdx.x / warp_size, r = item / s.heads;
  const int head = int(item % s.heads);
  const unsigned lane = threadIdx.x % warp_size;
  if (r >= y.rows) return;
  float* sums = dynamic_shared<float>() + threadIdx.x / warp_size * s.V;
  for (int64_t d = lane; d < s.V; d += warp_size) sums[d] = 0;
  if (own.rows) own.write(s, r, head, lane);
  __syncwarp();
  const int64_t length = past.length[r], position = past.position ? past.position[r] : length - 1;
  const Range seen = visible.keys(position, length);
  const Row query = s.query(r, head);
  const Cached<T> keys(s.k, head, s.K), values(s.v, head, s.V);
  OnlineSoftmax softmax;
  for (int64_t first = seen.begin; first < seen.end; first += warp_size) {
    const int64_t t = first + lane;
    const bool sees = t < seen.end;
    const auto row = int(past.key_row(r, sees ? t : first));
    float score = product_with<lanes>(keys, row, query, s.vector ? s.vector + head * s.K : nullptr);
    if (s.bias && sees) score += s.bias(s.bias.rows == 1 ? 0 : r, s.bias_column(head, t - position));
    softmax.take<lanes>(score * s.scale, sees, 1, row, sums, s.V, values);
  }
  __syncwarp();
  const bool any = seen.begin < seen.end;  // if not, y is 0; if all visible scores are NaN, 0 / 0 keeps the NaN
  for (int64_t d = lane; d < s.V; d += warp_size) y.set(r, head * s.V + d, any ? sums[d] / softmax.sum : 0.f);
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
                  a.keys.table ? view<const int32_t>(a.keys.table) : View<const int32_t>{}};
  const New own{Values(a.new_k), Values(a.new_v), a.new_rows ? integers(a.new_rows) : nullptr};
  const bool can_know = !scoring.vector && scoring.k.type == scoring.v.type && K % 4 == 0 && V % 4 == 0 &&
                        in_fours(scoring.k) && in_fours(scoring.v);
  // With the same lanes, all of them add in the same order.
  const int64_t widest = std::max(K, V);
  const auto run = [&]<class T>() {
    launch(widest <= 32   ? step_kernel<T, 8>
           : widest <= 64 ? step_kernel<T, 16>
                          : step_kernel<T, 32>,
           dim3(blocks_of(a.q.rows() * a.heads, warps)), dim3(warps * warp_size), warps * V * int64_t{sizeof(float)},
           scoring, own, past, Visibility{.window = a.window}, Values(a.y));
  };
  can_know ? for_factor(a.k.dtype(), run) : run.template operator()<Unknown>();
}

}  // namespace

void install_attention_step(Backend& b) {
  b.attention_step_scratch = [](int, int64_t) -> int64_t { return 0; };
  b.attention_step = attention_step;
}

}  // namespace dragoman::cuda
