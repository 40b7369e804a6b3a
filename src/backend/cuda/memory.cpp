#include "backend/cuda/memory.h"

#include <cuda.h>

#include <array>
#include <cstring>
#include <deque>

#include "backend/cuda/recording.h"
#include "tensor/arena.h"

namespace dragoman::cuda {

DeviceCounts so_far;

namespace {

int device_number = 0;

// What the driver's calls below are about. A reserved range gets memory in steps, so that tensors never move.
CUmemAllocationProp properties() {
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_number};
  return p;
}

int64_t free_bytes() {
  size_t free = 0, total = 0;
  DRAGOMAN_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return int64_t(free);
}

// The library of products, kernels' code and others on this GPU want some too.
int64_t capacity() { return free_bytes() / 100 * 95; }

void* reserve(int64_t bytes) {
  CUdeviceptr base = 0;
  return cuMemAddressReserve(&base, size_t(bytes), 0, 0, 0) == CUDA_SUCCESS ? reinterpret_cast<void*>(base) : nullptr;
}

// Whether a call of the driver found memory. Any other failure of it, an earlier kernel's say, is no want of memory.
bool has_memory(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY) return status == CUDA_SUCCESS;
  const char* what = nullptr;
  if (cuGetErrorString(status, &what) != CUDA_SUCCESS) what = "an unknown error";
  throw Error(fmt::format("CUDA: {} failed: {}", call, what),
              "nvidia-smi shows the state of the GPUs and what else runs on them");
}

bool commit(void* base, int64_t from, int64_t to) {
  const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(base) + CUdeviceptr(from);
  const auto bytes = size_t(to - from);
  const CUmemAllocationProp wanted = properties();
  CUmemGenericAllocationHandle memory = 0;
  ++so_far.allocations;
  if (!has_memory(cuMemCreate(&memory, bytes, &wanted, 0), "cuMemCreate")) return false;
  const CUresult mapped = cuMemMap(at, bytes, 0, memory, 0);
  cuMemRelease(memory);  // it lives on as long as it is mapped
  if (!has_memory(mapped, "cuMemMap")) return false;
  const CUmemAccessDesc access{wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUresult accessible = cuMemSetAccess(at, bytes, &access, 1);
  if (accessible != CUDA_SUCCESS) cuMemUnmap(at, bytes);
  return has_memory(accessible, "cuMemSetAccess");
}

void wait() {
  invariant(!recording(), "nobody waits for a device that records");
  ++so_far.waits;
  DRAGOMAN_CUDA_CHECK(cudaStreamSynchronize(stream()));
}

void release(void* base, int64_t reserved, int64_t committed) {
  ++so_far.waits;
  cudaStreamSynchronize(stream());
  const auto at = reinterpret_cast<CUdeviceptr>(base);
  if (committed > 0) cuMemUnmap(at, size_t(committed));
  cuMemAddressFree(at, size_t(reserved));
}

void download(void* host, const void* device, int64_t bytes) {
  DRAGOMAN_CUDA_CHECK(cudaMemcpyAsync(host, device, size_t(bytes), cudaMemcpyDeviceToHost, stream()));
  wait();
}

void upload(void* device, const void* host, int64_t bytes) {
  DRAGOMAN_CUDA_CHECK(cudaMemcpyAsync(device, host, size_t(bytes), cudaMemcpyHostToDevice, stream()));
  wait();
}

DeviceCounts counts() { return so_far; }

/// Pieces that were given back, by the logarithm of their size.
using Pool = std::array<std::vector<void*>, 48>;

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  const std::string what = fmt::format("CUDA: {} failed: {}", call, cudaGetErrorString(status));
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(what, "use smaller batches: --mini-batch-words");
  throw Error(what, "nvidia-smi shows the state of the GPUs and what else runs on them");
}

void open_device(int number) {
  int devices = 0;
  DRAGOMAN_CUDA_CHECK(cudaGetDeviceCount(&devices));
  require(number < devices, "there is no GPU {}: this machine has {}, counted from 0", number, devices);
  device_number = number;
  DRAGOMAN_CUDA_CHECK(cudaSetDevice(number));
  DRAGOMAN_CUDA_CHECK(cudaFree(nullptr));  // makes the context, which the driver's calls need
}

// Each thread that computes has to say once on which device.
cudaStream_t stream() {
  static const cudaStream_t only = [] {
    cudaStream_t s = nullptr;
    DRAGOMAN_CUDA_CHECK(cudaSetDevice(device_number));
    DRAGOMAN_CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
  }();
  thread_local const bool chosen = [] {
    DRAGOMAN_CUDA_CHECK(cudaSetDevice(device_number));
    return true;
  }();
  (void)chosen;
  return only;
}

bool has_matrix_units() {
  static const bool from_8_0_on = [] {
    int major = 0;
    DRAGOMAN_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device_number));
    return major >= 8;
  }();
  return from_8_0_on;
}

std::shared_ptr<void> piece(int64_t bytes) {
  static Pool& pool = *new Pool;  // never destroyed: mirrors of a program's last tensors go when it ends
  const size_t rank = rank_of(bytes);
  void* memory = nullptr;
  if (pool[rank].empty()) {
    ++so_far.allocations;
    DRAGOMAN_CUDA_CHECK(cudaMalloc(&memory, size_t{1} << rank));
  } else {
    memory = pool[rank].back();
    pool[rank].pop_back();
  }
  std::shared_ptr<void> owned(memory, [rank](void* p) { pool[rank].push_back(p); });
  if (recording()) keep(owned);
  return owned;
}

namespace {

/// Pinned memory, from which copies go while the host goes on. It is free again when its last copy has been made.
struct Pinned {
  void* memory = nullptr;
  cudaEvent_t copied = nullptr;
};

// The one that has waited longest is looked at; while it is in use, another one is made.
Pinned pinned(std::deque<Pinned>& of_size, size_t bytes) {
  Pinned one;
  if (!of_size.empty() && cudaEventQuery(of_size.front().copied) == cudaSuccess) {
    one = of_size.front();
    of_size.pop_front();
  } else {
    ++so_far.allocations;
    DRAGOMAN_CUDA_CHECK(cudaMallocHost(&one.memory, bytes));
    DRAGOMAN_CUDA_CHECK(cudaEventCreateWithFlags(&one.copied, cudaEventDisableTiming));
  }
  return one;
}

NumberToCome send(const double* number) {
  invariant(!recording(), "no number leaves a device that records");
  static auto& crates = *new std::deque<Pinned>;
  const Pinned to = pinned(crates, sizeof *number);
  DRAGOMAN_CUDA_CHECK(cudaMemcpyAsync(to.memory, number, sizeof *number, cudaMemcpyDeviceToHost, stream()));
  DRAGOMAN_CUDA_CHECK(cudaEventRecord(to.copied, stream()));
  return [to] {
    DRAGOMAN_CUDA_CHECK(cudaEventSynchronize(to.copied));
    crates.push_back(to);
    return *static_cast<const double*>(to.memory);
  };
}

// The host goes on at once, and may change what was copied.
void copy_to(void* device, const void* host, int64_t bytes) {
  static auto& crates = *new std::array<std::deque<Pinned>, 48>;  // by the logarithm of their size
  invariant(!recording(), "what the host makes for kernels is on the device before they are recorded");
  const size_t rank = rank_of(bytes);
  const Pinned from = pinned(crates[rank], size_t{1} << rank);
  std::memcpy(from.memory, host, size_t(bytes));
  DRAGOMAN_CUDA_CHECK(cudaMemcpyAsync(device, from.memory, size_t(bytes), cudaMemcpyHostToDevice, stream()));
  DRAGOMAN_CUDA_CHECK(cudaEventRecord(from.copied, stream()));
  crates[rank].push_back(from);
  ++so_far.uploads;
}

std::shared_ptr<void> copied(const void* host, int64_t bytes) {
  std::shared_ptr<void> copy = piece(bytes);
  copy_to(copy.get(), host, bytes);
  return copy;
}

}  // namespace

const DeviceMemory device_memory{capacity, reserve, commit, release, download, wait, upload, send, counts};

const void* mirrored(const Tensor& x) {
  Mirror* mirror = x.mirror();
  invariant(mirror != nullptr, "a kernel gets what lies on the device, or what the host made for it");
  if (!mirror->copy) mirror->copy = copied(mirror->host, mirror->bytes);
  if (recording()) keep(mirror->copy);  // what the host made may go before the recording does
  const auto offset = static_cast<const std::byte*>(x.data()) - static_cast<const std::byte*>(mirror->host);
  return static_cast<const std::byte*>(mirror->copy.get()) + offset;
}

void renew(Mirror& mirror) {
  if (!mirror.copy) mirror.copy = piece(mirror.bytes);
  copy_to(mirror.copy.get(), mirror.host, mirror.bytes);
}

Uploaded::Uploaded(const std::vector<int32_t>& values)
    : copy_(copied(values.data(), int64_t(values.size() * sizeof(int32_t)))) {}

}  // namespace dragoman::cuda
