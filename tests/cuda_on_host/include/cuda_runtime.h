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
/// at __syncthreads and in warps' exchanges; blocks run one after another, and kernels and copies at once. It cannot
/// show a kernel's speed, nor races between threads that this order hides. The environment variable
/// CUDA_ON_HOST_REFUSES names calls that fail: "cuMemMap cudaEventQuery"; while the file CUDA_ON_HOST_BREAKS exists,
/// the device is broken. CUDA_ON_HOST_DEVICES is the number of devices, CUDA_ON_HOST_MEMORY their memory in MiB, and
/// CUDA_ON_HOST_CODE the compute capability of the kernels, times 10.
// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)

struct float4 {
  float x, y, z, w;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline dim3 gridDim, blockDim, blockIdx, threadIdx;  // of the running thread

enum cudaError_t {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorNotReady,
  cudaErrorNotSupported,
  cudaErrorInsufficientDriver,
  cudaErrorNoKernelImageForDevice,
  cudaErrorInvalidDeviceFunction,
  cudaErrorUnsupportedPtxVersion
};
struct Stream;
struct Event;
struct Graph;
using cudaStream_t = Stream*;
using cudaEvent_t = Event*;
using cudaGraph_t = Graph*;
using cudaGraphExec_t = Graph*;
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMaxSharedMemoryPerBlockOptin
};
struct cudaFuncAttributes {
  int ptxVersion;
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;
struct cudaDeviceProp {
  char name[256];
  int major, minor;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
};

namespace cuda_on_host {

/// Executes work for the device, or keeps it for the capture in progress.
void issue(std::function<void()> work);
/// Whether CUDA_ON_HOST_REFUSES names the call.
bool refused(const char* call);
/// Whether the device is broken.
bool broken();
/// The value of an environment variable.
int64_t number_in(const char* variable, int64_t otherwise);
/// Whether this thread has not selected the device of the stream.
bool on_another_device();
/// Whether the device has so many threads and so much shared memory.
bool may_launch(const cudaLaunchConfig_t& config);
/// Runs one thread per element of the grid. Device memory is accessible meanwhile.
void run(const cudaLaunchConfig_t& config, const std::function<void()>& thread);
void* dynamic_shared_memory();
void wait_for_block();
void wait_for_warp();
/// Memory through which the lanes of this thread's warp exchange values: each writes its own, waits for the warp, and
/// reads those of others before its next exchange.
constexpr size_t warp_bytes = 1536;
void* warp_memory();
/// A copy of 16 bytes, zeros if `from` is null, which this thread makes when it finishes its copies, as it must.
void copy_later(void* to, const void* from);
void finish_copies();

template <class T>
T exchanged(T mine, unsigned lane) {
  static_assert(32 * sizeof(T) <= warp_bytes);
  auto* const values = static_cast<T*>(warp_memory());
  values[threadIdx.x % 32] = mine;
  wait_for_warp();
  return values[lane];
}

}  // namespace cuda_on_host

// The runtime: tests/cuda_on_host/memory.cpp and runtime.cpp.
const char* cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaMalloc(void** memory, size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMallocHost(void** memory, size_t bytes);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* device, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* runnable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runnable);
cudaError_t cudaGraphLaunch(cudaGraphExec_t runnable, cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments) {
  if (!cuda_on_host::may_launch(*config)) return cudaErrorNotSupported;
  cuda_on_host::issue([config = *config, kernel, given = std::tuple<P...>(std::forward<A>(arguments)...)] {
    cuda_on_host::run(config, [&] { std::apply(kernel, given); });
  });
  return cudaSuccess;
}

inline int __dp4a(int a, int b, int sum) {
  for (int byte = 0; byte < 4; ++byte) sum += int8_t(a >> 8 * byte) * int8_t(b >> 8 * byte);
  return sum;
}
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmul_ru(float a, float b) {
  const double exact = double{a} * b;
  const auto nearest = float(exact);
  return nearest < exact ? std::nextafter(nearest, INFINITY) : nearest;
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
// NOLINTEND(bugprone-reserved-identifier)
