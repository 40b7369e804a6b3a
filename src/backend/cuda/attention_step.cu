#include "backend/backend.h"
#include "backend/cuda/attention.cuh"
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
  const bool wide = in_fours(s.value(0, head)) && s.v.stride % 4 == 0;
  OnlineSoftmax softmax;
  for (int64_t first = seen.begin; first < seen.end; first += warp_size) {
    const int64_t t = first + lane;
    const bool sees = t < seen.end;
    const int64_t row = past.key_row(r, sees ? t : first);
    const float score = sees ? s.score(query, s.key(row, head), r, head, t - position) : 0.f;
    softmax.take(score, sees, 1, sums, s.V, wide,
                 [&](int of_lane) { return s.value(__shfl_sync(0xffffffffu, row, of_lane), head); });
  }
  __syncwarp();
  const bool any = seen.begin < seen.end;  // if not, y is 0; if all visible scores are NaN, 0 / 0 keeps the NaN
  for (int64_t d = lane; d < s.V; d += warp_size) y.set(r, head * s.V + d, any ? sums[d] / softmax.sum : 0.f);
}

void attention_step(const Backend::AttentionStep& a) {
  const int64_t K = a.q.cols() / a.heads, V = a.v.cols() / a.heads;
  const Scoring scoring{
      Values(a.q), Values(a.k), Values(a.v), view<const float>(a.bias),     view<const float>(a.score_vector).data,
      a.heads,     K,           V,           float(score_scale(a.score, K))};
  const Past past{integers(a.keys.length), a.keys.begin ? integers(a.keys.begin) : nullptr,
                  a.keys.position ? integers(a.keys.position) : nullptr,
                  a.keys.table ? view<const int32_t>(a.keys.table) : View<const int32_t>{}};
  const New own{Values(a.new_k), Values(a.new_v), a.new_rows ? integers(a.new_rows) : nullptr};
  launch(step_kernel, dim3(blocks_of(a.q.rows() * a.heads, warps)), dim3(warps * warp_size),
         warps * V * int64_t{sizeof(float)}, scoring, own, past, Visibility{.window = a.window}, Values(a.y));
}

}  // namespace

void install_attention_step(Backend& b) {
  b.attention_step_scratch = [](int, int64_t) -> int64_t { return 0; };
  b.attention_step = attention_step;
}

}  // namespace dragoman::cuda
