#pragma once
#include "backend/attention_shape.h"
#include "backend/cuda/device.cuh"

namespace dragoman::cuda {

/// One head of queries and keys on the device: how a score is made of two rows (see Score and DistanceBias).
struct Scoring {
  View<const float> q, k, v, bias;
  const float* vector = nullptr;  // (H*K), additive only
  int heads = 1;
  int64_t K = 0, V = 0;  // columns of a head
  float scale = 1;

  __device__ const float* query(int64_t row, int head) const { return q.row(row) + head * K; }
  __device__ const float* key(int64_t row, int head) const { return k.row(row) + head * K; }
  __device__ const float* value(int64_t row, int head) const { return v.row(row) + head * V; }
  __device__ int64_t bias_column(int head, int64_t distance) const {
    const int64_t R = (bias.cols / heads - 1) / 2;
    const int64_t clipped = distance < -R ? -R : distance > R ? R : distance;
    return head * (2 * R + 1) + clipped + R;
  }
  __device__ float score(const float* of_query, const float* of_key, int64_t query_row, int head,
                         int64_t distance) const {
    float sum = 0;
    if (vector)
      for (int64_t d = 0; d < K; ++d) sum += vector[head * K + d] * tanhf(of_query[d] + of_key[d]);
    else
      for (int64_t d = 0; d < K; ++d) sum += of_query[d] * of_key[d];
    if (bias) sum += bias(bias.rows == 1 ? 0 : query_row, bias_column(head, distance));
    return sum * scale;
  }
};

/// Softmax over keys that come in turn, 32 at a time: one a lane (Milakov & Gimelshein 2018). The weighted sum of
/// values gathers in `sums` (V) of shared memory.
struct OnlineSoftmax {
  float top = -INFINITY, sum = 0;

  /// `value_of(j)`: the values of lane j's key; `keep`: what dropout makes of this lane's weight. All lanes call it.
  template <class F>
  __device__ void take(float score, bool seen, float keep, float* sums, int64_t V, const F& value_of) {
    const float highest = fmaxf(top, warp_max(seen ? score : -INFINITY));
    if (highest == -INFINITY) return;
    const float shrink = expf(top - highest), weight = seen ? expf(score - highest) : 0.f;
    top = highest;
    sum = sum * shrink + warp_sum(weight);
    const unsigned lane = threadIdx.x % warp_size;
    for (int64_t d = 0; d < V; d += warp_size) {
      const bool mine = d + lane < V;
      float total = mine ? sums[d + lane] * shrink : 0.f;
      for (int j = 0; j < warp_size; ++j) {
        const float p = __shfl_sync(0xffffffffu, weight * keep, j);
        if (p != 0 && mine) total += p * value_of(j)[d + lane];
      }
      if (mine) sums[d + lane] = total;
    }
  }
};

}  // namespace dragoman::cuda
