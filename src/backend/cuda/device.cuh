#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "backend/cuda/dynamic_shared.cuh"
#include "backend/cuda/memory.h"

/// What every kernel file here needs: launching, views of device memory, sums over warps and blocks.
namespace dragoman::cuda {

constexpr int warp_size = 32;
constexpr int threads_per_block = 256;

inline unsigned blocks_of(int64_t items, int64_t size) { return unsigned((items + size - 1) / size); }

/// Runs `kernel` on the stream of this device. Does nothing for a grid without blocks. `shared`: bytes of dynamic
/// shared memory. A device offers 48 KiB by default, of which up to 16 KiB may be the kernel's static shared memory.
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, int64_t shared, A&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const DeviceLock lock = use_device();
  if (shared > 32 * 1024) {
    require(shared <= most_shared_bytes(),
            "attention heads this large need {} bytes of a GPU's shared memory, it has {}", shared,
            most_shared_bytes());
    DRAGOMAN_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = size_t(shared);
  config.stream = stream();
  DRAGOMAN_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...));
}

/// The tensor as a kernel sees it: its device memory, or the device's copy of data that the host made.
template <class T>
View<T> view(const Tensor& x) {
  if (!x) return {};
  View<T> v = x.view<T>();
  if (!x.memory()) v.data = static_cast<T*>(const_cast<void*>(mirrored(x)));
  return v;
}
inline const int32_t* integers(const Tensor& x) { return view<const int32_t>(x).data; }

template <class Index, class F>
__global__ void element_kernel(Index rows, Index cols, F f) {
  const Index all = rows * cols, step = Index{gridDim.x} * blockDim.x;
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < all; i += step) f(i / cols, i % cols);
}

/// Calls f(row, column) on the device for every element of a matrix. Uses 32-bit indices if they suffice: a GPU divides
/// them several times as fast.
template <class F>
void each_element(int64_t rows, int64_t cols, F f) {
  constexpr unsigned most = 1 << 16;
  const dim3 grid(std::min(blocks_of(rows * cols, threads_per_block), most)), block(threads_per_block);
  if (rows * cols < int64_t{1} << 31)
    launch(element_kernel<uint32_t, F>, grid, block, 0, uint32_t(rows), uint32_t(cols), f);
  else
    launch(element_kernel<int64_t, F>, grid, block, 0, rows, cols, f);
}

/// The maximum, ignoring NaN in either order, so that all lanes of a warp agree.
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// Returns the same value in all lanes of the warp; the order of joining depends only on the lanes.
template <class T, class Join>
__device__ T warp_reduce(T value, Join join) {
  for (int step = warp_size / 2; step > 0; step /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}
__device__ inline float warp_sum(float value) { return warp_reduce(value, Plus{}); }
__device__ inline float warp_max(float value) { return warp_reduce(value, Larger{}); }

/// Returns the same value in all threads of the block; `nothing` is the identity of `join`. All threads must call it.
template <class T, class Join>
__device__ T block_reduce(T value, T nothing, Join join) {
  __shared__ T of_warps[warp_size];
  value = warp_reduce(value, join);
  __syncthreads();  // threads may still be reading the result of an earlier call
  if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = value;
  __syncthreads();
  const unsigned lane = threadIdx.x % warp_size;
  return warp_reduce(lane < blockDim.x / warp_size ? of_warps[lane] : nothing, join);
}

}  // namespace dragoman::cuda
