#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/cuda_on_host/memory.h"

using Clock = std::chrono::steady_clock;

struct Stream {
  int device = -1;  // until it is made
  bool captures = false;
  std::vector<std::function<void()>> captured = {};  // the work that the device would have been given
};
struct Graph {
  std::vector<std::function<void()>> work;
};
struct Event {
  Clock::time_point at = {};
};

namespace {

Stream only;  // all work runs in order
thread_local int selected = 0;

cudaError_t answer(const char* call) {
  return cuda_on_host::refused(call) || cuda_on_host::broken() ? cudaErrorNotSupported : cudaSuccess;
}

}  // namespace

namespace cuda_on_host {

void issue(std::function<void()> work) {
  if (!only.captures) return work();
  only.captured.push_back(std::move(work));
}

bool on_another_device() { return only.device >= 0 && selected != only.device; }

bool refused(const char* call) {
  const char* const calls = std::getenv("CUDA_ON_HOST_REFUSES");
  return calls && std::string_view(calls).find(call) != std::string_view::npos;
}

bool broken() {
  const char* const file = std::getenv("CUDA_ON_HOST_BREAKS");
  return file && access(file, F_OK) == 0;
}

int64_t number_in(const char* variable, int64_t otherwise) {
  const char* const value = std::getenv(variable);
  return value ? std::atoll(value) : otherwise;
}

}  // namespace cuda_on_host

const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "out of memory" : "operation not supported";
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = int(cuda_on_host::number_in("CUDA_ON_HOST_DEVICES", 1));
  return cuda_on_host::refused("cudaGetDeviceCount") ? cudaErrorInsufficientDriver : cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"the host, in place of a GPU", 8, 0};
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  constexpr int values[] = {8, 0, 99 * 1024};  // shared memory as of compute capability 8.6
  *value = values[which];
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  attributes->ptxVersion = int(cuda_on_host::number_in("CUDA_ON_HOST_CODE", 80));
  return attributes->ptxVersion == 0 ? cudaErrorNoKernelImageForDevice : cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  selected = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = selected;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = &only;
  only.device = selected;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return stream->captures || cuda_on_host::broken() ? cudaErrorNotSupported : cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const cudaError_t status = answer("cudaStreamBeginCapture");
  stream->captures = status == cudaSuccess;
  return status;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  stream->captures = false;
  auto work = std::exchange(stream->captured, {});
  const cudaError_t status = answer("cudaStreamEndCapture");
  *graph = status == cudaSuccess ? new Graph{std::move(work)} : nullptr;
  return status;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* runnable, cudaGraph_t graph, unsigned long long) {
  const cudaError_t status = answer("cudaGraphInstantiate");
  if (status == cudaSuccess) *runnable = new Graph(*graph);
  return status;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runnable) { return cudaGraphDestroy(runnable); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t runnable, cudaStream_t stream) {
  if (stream->captures || cuda_on_host::on_another_device())
    return cudaErrorNotSupported;  // recordings do not hold one another
  const cudaError_t status = answer("cudaGraphLaunch");
  if (status == cudaSuccess) {
    const cuda_on_host::Unlocked memory;  // once for all of the work
    for (const auto& work : runnable->work) work();
  }
  return status;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  if (cuda_on_host::on_another_device()) return cudaErrorNotSupported;
  *event = new Event;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->at = Clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return answer("cudaEventQuery"); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return cudaSuccess;
}
