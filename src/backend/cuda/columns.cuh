#pragma once
#include "backend/cuda/device.cuh"

/// Sums of columns over all rows: a block handles 32 adjacent columns, its 8 warps share the rows, and their sums are
/// added in a fixed order.
namespace dragoman::cuda {

constexpr int64_t warps_of_columns = threads_per_block / warp_size;

__device__ inline int64_t column_of_thread(int64_t block) { return block * warp_size + threadIdx.x % warp_size; }
__device__ inline int64_t row_of_thread() { return threadIdx.x / warp_size; }

/// Adds the values of the threads of a column, and returns the sum to all of them. All threads of the block must call.
__device__ inline float column_sum(float mine) {
  __shared__ float sums[threads_per_block];
  __syncthreads();  // threads may still be reading the result of an earlier call
  sums[threadIdx.x] = mine;
  __syncthreads();
  float sum = 0;
  for (int64_t warp = 0; warp < warps_of_columns; ++warp) sum += sums[warp * warp_size + threadIdx.x % warp_size];
  return sum;
}

template <class F>
__global__ void column_totals_kernel(View<const float> x, F put) {
  const int64_t d = column_of_thread(blockIdx.x);
  float mine = 0;
  if (d < x.cols)
#pragma unroll 8
    for (int64_t n = row_of_thread(); n < x.rows; n += warps_of_columns) mine += x(n, d);
  const float total = column_sum(mine);
  if (d < x.cols && row_of_thread() == 0) put(d, total);
}

/// Calls put(column, Σ_n x(n, column)) on the device for every column of the blocks' partial sums.
template <class F>
void column_totals(View<const float> x, F put) {
  launch(column_totals_kernel<F>, dim3(blocks_of(x.cols, warp_size)), dim3(threads_per_block), 0, x, put);
}

}  // namespace dragoman::cuda
