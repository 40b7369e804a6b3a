#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

/// Stands in for CUDA's header, so that the kernels of src/backend/cuda compile as C++ and run on the host in tests. It
/// provides only the parts of the language and the runtime that they use. A block's threads are fibers that take turns
/// at __syncthreads and in warps' exchanges; blocks run one after another. It cannot show a kernel's speed, nor races
/// between threads that this order hides.

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(threads)

struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline dim3 gridDim, blockDim, blockIdx, threadIdx;  // of the running thread

enum cudaError_t { cudaSuccess };
using cudaStream_t = void*;
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
};

namespace cuda_on_host {

/// Executes work for the device, or keeps it for the recording in progress (tests/cuda_on_host/recording.cpp).
void issue(std::function<void()> work);
/// Runs one thread per element of the grid. Device memory is accessible meanwhile.
void run(const cudaLaunchConfig_t& config, const std::function<void()>& thread);
void* dynamic_shared_memory();
void wait_for_block();
/// The value given by lane `lane` of this thread's warp, after every lane has given one.
uint64_t exchange(uint64_t mine, unsigned lane);
/// The values given by all lanes of this thread's warp, `words` each, valid until the warp's next exchange.
constexpr unsigned words_given = 6;
using Given = uint32_t[32][words_given];
const Given& gather(const uint32_t (&mine)[words_given]);
void wait_for_warp();
void clear(void* device, int value, size_t bytes);

template <class T>
T exchanged(T mine, unsigned lane) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &mine, sizeof mine);
  bits = exchange(bits, lane);
  std::memcpy(&mine, &bits, sizeof mine);
  return mine;
}

}  // namespace cuda_on_host

inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void* device, int value, size_t bytes, cudaStream_t) {
  cuda_on_host::clear(device, value, bytes);
  return cudaSuccess;
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments) {
  cuda_on_host::issue([config = *config, kernel, given = std::tuple<P...>(std::forward<A>(arguments)...)] {
    cuda_on_host::run(config, [&] { std::apply(kernel, given); });
  });
  return cudaSuccess;
}

inline int __dp4a(int a, int b, int sum) {
  for (int byte = 0; byte < 4; ++byte) sum += int8_t(a >> 8 * byte) * int8_t(b >> 8 * byte);
  return sum;
}
inline void __syncthreads() { cuda_on_host::wait_for_block(); }
inline void __syncwarp() { cuda_on_host::wait_for_warp(); }
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  return cuda_on_host::exchanged(value, unsigned(lane));
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return cuda_on_host::exchanged(value, threadIdx.x % 32 ^ unsigned(mask));
}
