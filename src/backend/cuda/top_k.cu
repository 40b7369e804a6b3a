#include <climits>
#include <limits>

#include "backend/cuda/device.cuh"
#include "backend/cuda/families.h"

namespace dragoman::cuda {
namespace {

struct Best {
  float value;
  int32_t id;
};

/// Prefers the larger value and, among equals, the lower id. NaN is never better.
__device__ bool better(Best a, Best b) { return a.value != b.value ? a.value > b.value : a.id < b.id; }

__device__ Best block_best(Best mine, Best* shared) {
  shared[threadIdx.x] = mine;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half && better(shared[threadIdx.x + half], shared[threadIdx.x]))
      shared[threadIdx.x] = shared[threadIdx.x + half];
  }
  __syncthreads();
  const Best best = shared[0];
  __syncthreads();
  return best;
}

// One block per row: finds the best, then the best of the rest, k times. The logits stay in the cache meanwhile.
__global__ void top_k_kernel(View<float> values, View<int32_t> ids, View<float> lse, View<const float> logits) {
  __shared__ Best shared[threads_per_block];
  const int64_t r = blockIdx.x;
  const float* z = logits.row(r);
  const float lowest = -std::numeric_limits<float>::infinity();
  float wrong = 0;
  for (int64_t v = threadIdx.x; v < logits.cols; v += blockDim.x) wrong += z[v] != z[v] ? 1.f : 0.f;
  wrong = block_reduce(wrong, 0.f, Plus{});
  Best last{std::numeric_limits<float>::infinity(), -1};
  for (int64_t i = 0; i < values.cols; ++i) {
    Best mine{lowest, INT_MAX};
    for (int64_t v = threadIdx.x; v < logits.cols; v += blockDim.x) {
      const Best here{z[v], int32_t(v)};
      if (better(last, here) && better(here, mine)) mine = here;
    }
    last = block_best(mine, shared);
    if (threadIdx.x == 0) {
      values(r, i) = wrong > 0 ? std::numeric_limits<float>::quiet_NaN() : last.value;
      ids(r, i) = last.id == INT_MAX ? 0 : last.id;
    }
  }
  if (!lse) return;
  float highest = lowest;
  for (int64_t v = threadIdx.x; v < logits.cols; v += blockDim.x) highest = z[v] > highest ? z[v] : highest;
  highest = block_reduce(highest, lowest, Larger{});
  float sum = 0;
  for (int64_t v = threadIdx.x; v < logits.cols; v += blockDim.x) sum += expf(z[v] - highest);
  sum = block_reduce(sum, 0.f, Plus{});
  if (threadIdx.x == 0) lse(r) = highest + logf(sum);
}

// values (R,k)  ids (R,k)  lse (R)  logits (R,V)
void top_k(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
  launch(top_k_kernel, dim3(unsigned(logits.rows())), dim3(threads_per_block), 0, view<float>(values),
         view<int32_t>(ids), view<float>(lse), view<const float>(logits));
}

}  // namespace

void install_top_k(Backend& b) { b.top_k = top_k; }

}  // namespace dragoman::cuda
