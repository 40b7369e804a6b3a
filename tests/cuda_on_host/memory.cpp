#include "tests/cuda_on_host/memory.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/mman.h>

#include <cstring>
#include <map>

// Device memory. Each allocation has pages of its own, and one more that nobody may touch.

namespace cuda_on_host {
namespace {

struct Pages {
  size_t reserved, usable;  // bytes
};
// By their base. Never destroyed: mirrors of static tensors are released at exit.
std::map<std::byte*, Pages>& ranges = *new std::map<std::byte*, Pages>;
int unlocked = 0;
// Locks all pages by a register of the thread (pkeys(7)). Negative where the processor has no keys: then each change is
// a system call for each allocation, which takes a seventh of the time of whole runs.
const int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);

void protect(int how) {
  for (const auto& [base, pages] : ranges)
    if (pages.usable > 0) mprotect(base, pages.usable, how);
}

void set_usable(Pages& pages, std::byte* base, size_t bytes) {
  pages.usable = bytes;
  if (key >= 0) pkey_mprotect(base, bytes, PROT_READ | PROT_WRITE, key);
}

std::byte* reserve(size_t bytes) {
  void* const base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  return ranges.emplace(static_cast<std::byte*>(base), Pages{bytes, 0}).first->first;
}

void release(void* base) {
  const auto found = ranges.find(static_cast<std::byte*>(base));
  munmap(found->first, found->second.reserved);
  ranges.erase(found);
}

std::byte* pointer(CUdeviceptr at) { return reinterpret_cast<std::byte*>(at); }

}  // namespace

Unlocked::Unlocked() {
  if (unlocked++ > 0) return;
  if (key >= 0)
    pkey_set(key, 0);
  else
    protect(PROT_READ | PROT_WRITE);
}
Unlocked::~Unlocked() {
  if (--unlocked > 0) return;
  if (key >= 0)
    pkey_set(key, PKEY_DISABLE_ACCESS);
  else
    protect(PROT_NONE);
}

void checked_copy(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace cuda_on_host

using namespace cuda_on_host;

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  if (on_another_device()) return cudaErrorNotSupported;
  *total = size_t(number_in("CUDA_ON_HOST_MEMORY", 4096)) << 20;
  size_t used = 0;
  for (const auto& [base, pages] : ranges) used += pages.usable;
  *free = *total - std::min(*total, used);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  if (on_another_device()) return cudaErrorNotSupported;
  constexpr size_t page = 4096;
  const size_t usable = (bytes + page - 1) / page * page;
  std::byte* const base = reserve(usable + page);
  if (!base) return cudaErrorMemoryAllocation;
  set_usable(ranges.at(base), base, usable);
  *memory = base;
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  if (memory) release(memory);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  if (on_another_device()) return cudaErrorNotSupported;
  *memory = new std::byte[bytes];
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  if (broken()) return cudaErrorNotSupported;
  if (bytes == 0) return cudaSuccess;  // an empty tensor may have no address
  issue([=] {
    const Unlocked memory;
    std::memcpy(to, from, bytes);
  });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* device, int value, size_t bytes, cudaStream_t) {
  issue([=] {
    const Unlocked memory;
    std::memset(device, value, bytes);
  });
  return cudaSuccess;
}

// For the stand-in for NCCL.
extern "C" void cuda_on_host_copy(void* to, const void* from, size_t bytes) {
  const Unlocked memory;
  std::memcpy(to, from, bytes);
}

CUresult cuGetErrorString(CUresult status, const char** what) {
  *what = status == CUDA_ERROR_NOT_SUPPORTED ? "operation not supported" : "out of memory";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* id, int device) {
  *id = {{char(device)}};
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* base, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  if (refused("cuMemAddressReserve")) return CUDA_ERROR_NOT_SUPPORTED;
  *base = reinterpret_cast<CUdeviceptr>(reserve(bytes));
  return *base ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAddressFree(CUdeviceptr base, size_t) {
  release(pointer(base));
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* memory, size_t bytes, const CUmemAllocationProp*,
                     unsigned long long) {
  if (refused("cuMemCreate")) return CUDA_ERROR_NOT_SUPPORTED;
  *memory = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle) { return CUDA_SUCCESS; }

CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) {
  return refused("cuMemMap") ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr, size_t) { return CUDA_SUCCESS; }

// Memory is added where the range's ends.
CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc*, size_t) {
  const auto range = std::prev(ranges.upper_bound(pointer(at)));
  set_usable(range->second, range->first, size_t(pointer(at) - range->first) + bytes);
  return CUDA_SUCCESS;
}
