#include "backend/cuda/ranges.h"

#include <cuda.h>

#include <exception>

#include "backend/cuda/memory.h"
#include "backend/cuda/nccl.h"
#include "tensor/arena.h"

namespace dragoman::cuda {
namespace {

int64_t free_bytes() {
  const DeviceLock lock = use_device();
  size_t free = 0, total = 0;
  DRAGOMAN_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return int64_t(free);
}

// cuBLASLt, the kernels' code and other processes on this GPU need some memory too.
int64_t capacity() { return free_bytes() / 100 * 95; }

// Properties of the memory that is mapped by the driver calls below. Ranges grow in steps, so that tensors never move.
CUmemAllocationProp properties() {
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_number()};
  return p;
}

void* reserve(int64_t bytes) {
  const DeviceLock lock = use_device();
  CUdeviceptr base = 0;
  return cuMemAddressReserve(&base, size_t(bytes), 0, 0, 0) == CUDA_SUCCESS ? reinterpret_cast<void*>(base) : nullptr;
}

std::string said(CUresult status, const char* call) {
  const char* what = nullptr;
  if (cuGetErrorString(status, &what) != CUDA_SUCCESS) what = "an unknown error";
  return fmt::format("CUDA: {} failed: {}", call, what);
}

/// A driver call's answer to a request for memory. Any other failure, such as an earlier kernel's, does not mean that
/// memory is exhausted.
struct Answer {
  CUresult status;
  const char* call;

  bool has_memory() const {
    if (status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY) return status == CUDA_SUCCESS;
    throw DeviceError(said(status, call), "nvidia-smi shows the state of the GPUs and what else runs on them");
  }
};

Answer map_memory(void* base, int64_t from, int64_t to) {
  const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(base) + CUdeviceptr(from);
  const auto bytes = size_t(to - from);
  const CUmemAllocationProp wanted = properties();
  CUmemGenericAllocationHandle memory = 0;
  const CUresult created = cuMemCreate(&memory, bytes, &wanted, 0);
  if (created != CUDA_SUCCESS) return {created, "cuMemCreate"};
  const CUresult mapped = cuMemMap(at, bytes, 0, memory, 0);
  cuMemRelease(memory);  // the memory lives as long as it is mapped
  if (mapped != CUDA_SUCCESS) return {mapped, "cuMemMap"};
  const CUmemAccessDesc access{wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUresult accessible = cuMemSetAccess(at, bytes, &access, 1);
  if (accessible != CUDA_SUCCESS) cuMemUnmap(at, bytes);
  return {accessible, "cuMemSetAccess"};
}

bool commit(void* base, int64_t from, int64_t to) {
  const DeviceLock lock = use_device();
  ++so_far.allocations;
  return map_memory(base, from, to).has_memory();
}

// After an error of this rank or another, the stream may wait for messages that nobody sends (NCCL). Then the end of
// the process frees the memory.
bool ends_with_an_error() { return std::uncaught_exceptions() > 0 && connected(); }

void finish() {
  ++so_far.waits;
  cudaStreamSynchronize(stream());
}

void release(void* base, int64_t reserved, int64_t committed) {
  if (ends_with_an_error()) return;
  const DeviceLock lock = use_device();
  finish();
  const auto at = reinterpret_cast<CUdeviceptr>(base);
  if (committed > 0) cuMemUnmap(at, size_t(committed));
  cuMemAddressFree(at, size_t(reserved));
}

}  // namespace

std::string why_no_ranges() {
  const DeviceLock lock = use_device();
  constexpr int64_t little = 32 << 20;
  CUdeviceptr base = 0;
  const CUresult reserved = cuMemAddressReserve(&base, little, 0, 0, 0);
  if (reserved != CUDA_SUCCESS) return said(reserved, "cuMemAddressReserve");
  const auto [status, call] = map_memory(reinterpret_cast<void*>(base), 0, little);
  if (status == CUDA_SUCCESS) cuMemUnmap(base, little);
  cuMemAddressFree(base, little);
  const bool refused = status != CUDA_SUCCESS && status != CUDA_ERROR_OUT_OF_MEMORY;
  return refused ? said(status, call) : "";
}

void allocate_ranges(DeviceMemory& memory) {
  memory.capacity = capacity;
  memory.reserve = reserve;
  memory.commit = commit;
  memory.release = release;
}

void allocate_plainly(DeviceMemory& memory) {
  memory.capacity = [] { return free_bytes() / 2; };
  memory.reserve = [](int64_t bytes) {
    const DeviceLock lock = use_device();
    void* base = nullptr;
    ++so_far.allocations;
    if (cudaMalloc(&base, size_t(bytes)) == cudaSuccess) return base;
    cudaGetLastError();
    return static_cast<void*>(nullptr);
  };
  memory.commit = [](void*, int64_t, int64_t) { return true; };
  memory.release = [](void* base, int64_t, int64_t) {
    if (ends_with_an_error()) return;
    const DeviceLock lock = use_device();
    finish();
    cudaFree(base);
  };
}

void allocate_nothing(DeviceMemory& memory) {
  memory.capacity = capacity;
  memory.reserve = [](int64_t) { return reinterpret_cast<void*>(uintptr_t{1} << 40); };
  memory.commit = [](void*, int64_t, int64_t) { return true; };
  memory.release = [](void*, int64_t, int64_t) {};
}

}  // namespace dragoman::cuda
