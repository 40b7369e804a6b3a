#include "backend/cuda/memory.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <list>

#include "backend/cuda/ranges.h"
#include "backend/cuda/recording.h"
#include "base/log.h"
#include "tensor/arena.h"

namespace dragoman::cuda {

DeviceCounts so_far;

namespace {

int opened = 0;  // the device of this process

void wait() {
  const DeviceLock lock = use_device();
  invariant(!recording(), "the host must not wait for a device that is recording");
  ++so_far.waits;
  DRAGOMAN_CUDA_CHECK(cudaStreamSynchronize(stream()));
}

void download(void* host, const void* device, int64_t bytes) {
  const DeviceLock lock = use_device();
  DRAGOMAN_CUDA_CHECK(cudaMemcpyAsync(host, device, size_t(bytes), cudaMemcpyDeviceToHost, stream()));
  wait();
}

void upload(void* device, const void* host, int64_t bytes) {
  const DeviceLock lock = use_device();
  DRAGOMAN_CUDA_CHECK(cudaMemcpyAsync(device, host, size_t(bytes), cudaMemcpyHostToDevice, stream()));
  wait();
}

DeviceCounts counts() {
  const DeviceLock lock = use_device();
  return so_far;
}

/// Pieces of one size.
struct Pieces {
  std::vector<void*> returned;  // has room for all that were made: returning one must not need memory
  size_t made = 0;
};
using Pool = std::array<Pieces, 48>;  // by rank

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  const std::string what = fmt::format("CUDA: {} failed: {}", call, cudaGetErrorString(status));
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(what);
  if (status == cudaErrorInsufficientDriver)
    throw DeviceError(what + "; CUDA 13 needs NVIDIA's driver 580 or newer", "nvidia-smi shows which one is installed");
  throw DeviceError(what, "nvidia-smi shows the state of the GPUs and what else runs on them");
}

void open_device(int number) {
  int devices = 0;
  DRAGOMAN_CUDA_CHECK(cudaGetDeviceCount(&devices));
  require(number < devices, "there is no GPU {}: this machine has {}, counted from 0", number, devices);
  opened = number;
  DRAGOMAN_CUDA_CHECK(cudaSetDevice(number));
  DRAGOMAN_CUDA_CHECK(cudaFree(nullptr));  // creates the context that driver calls need
}

int device_number() { return opened; }

// Destructors call it, so it throws nothing: if the device cannot be selected, the calls that follow fail.
DeviceLock use_device() {
  static auto& turns = *new std::recursive_mutex;  // never destroyed: mirrors of static tensors are released at exit
  thread_local const cudaError_t selected = cudaSetDevice(opened);
  static_cast<void>(selected);
  int current = opened;
  if (cudaGetDevice(&current) == cudaSuccess && current != opened)  // the program has selected another one since
    static_cast<void>(cudaSetDevice(opened));
  return DeviceLock(turns);
}

cudaStream_t stream() {
  static const cudaStream_t only = [] {
    cudaStream_t s = nullptr;
    DRAGOMAN_CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
  }();
  return only;
}

void clear(const Tensor& x) {
  const DeviceLock lock = use_device();
  DRAGOMAN_CUDA_CHECK(cudaMemsetAsync(x.data(), 0, size_t(x.bytes()), stream()));
}

// The code counts: kernels compiled for an earlier GPU, which the driver translates for this one, do not use them.
bool has_matrix_units() {
  static const bool from_8_0_on = code_for_device() >= 80;
  return from_8_0_on;
}

int64_t most_shared_bytes() {
  static const int64_t most = [] {
    int bytes = 0;
    DRAGOMAN_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, opened));
    return int64_t{bytes} - 1024;
  }();
  return most;
}

namespace {

std::shared_ptr<void> alone(int64_t bytes) {
  const DeviceLock lock = use_device();
  void* memory = nullptr;
  ++so_far.allocations;
  DRAGOMAN_CUDA_CHECK(cudaMalloc(&memory, size_t(bytes)));
  return {memory, [](void* p) {
            const DeviceLock using_it = use_device();
            cudaFree(p);  // waits for kernels that use the memory
          }};
}

}  // namespace

std::shared_ptr<void> piece(int64_t bytes) {
  if (memory_kind() == Memory::tensors) return alone(bytes);
  const DeviceLock lock = use_device();
  static Pool& pool = *new Pool;  // never destroyed: mirrors of static tensors are released at exit
  const size_t rank = rank_of(bytes);
  Pieces& pieces = pool[rank];
  void* memory = nullptr;
  if (pieces.returned.empty()) {
    ++so_far.allocations;
    pieces.returned.reserve(std::bit_ceil(++pieces.made));
    DRAGOMAN_CUDA_CHECK(cudaMalloc(&memory, size_t{1} << rank));
  } else {
    memory = pieces.returned.back();
    pieces.returned.pop_back();
  }
  std::shared_ptr<void> owned(memory, [&pieces](void* p) {
    const DeviceLock returning = use_device();
    pieces.returned.push_back(p);
  });
  if (recording()) keep(owned);
  return owned;
}

namespace {

/// Pinned memory, which is copied asynchronously. It is free again when its last copy is complete.
struct Pinned {
  void* memory = nullptr;
  cudaEvent_t copied = nullptr;
};

// A list, since buffers move between lists without needing memory.
using PinnedList = std::list<Pinned>;

// The least recently used buffer of a size, or a new one if that is still in use.
PinnedList pinned(PinnedList& of_size, size_t bytes) {
  PinnedList one;
  const cudaError_t copied = of_size.empty() ? cudaErrorNotReady : cudaEventQuery(of_size.front().copied);
  if (copied != cudaErrorNotReady) check(copied, "cudaEventQuery");
  if (copied == cudaSuccess) {
    one.splice(one.end(), of_size, of_size.begin());
  } else {
    ++so_far.allocations;
    one.emplace_back();
    DRAGOMAN_CUDA_CHECK(cudaMallocHost(&one.front().memory, bytes));
    DRAGOMAN_CUDA_CHECK(cudaEventCreateWithFlags(&one.front().copied, cudaEventDisableTiming));
  }
  return one;
}

PendingBytes send(const void* device, int64_t bytes) {
  const DeviceLock lock = use_device();
  invariant(!recording(), "a device that is recording cannot send values");
  static auto& crates = *new std::array<PinnedList, 48>;  // by rank
  const size_t rank = rank_of(bytes);
  // Returned even if nobody reads it, as after a search that was cancelled.
  const std::shared_ptr<PinnedList> to(new PinnedList, [rank](PinnedList* done) {
    const DeviceLock returning = use_device();
    crates[rank].splice(crates[rank].end(), *done);
    delete done;
  });
  *to = pinned(crates[rank], size_t{1} << rank);
  const Pinned host = to->front();
  DRAGOMAN_CUDA_CHECK(cudaMemcpyAsync(host.memory, device, size_t(bytes), cudaMemcpyDeviceToHost, stream()));
  DRAGOMAN_CUDA_CHECK(cudaEventRecord(host.copied, stream()));
  return [to, bytes](void* values) {
    DRAGOMAN_CUDA_CHECK(cudaEventSynchronize(to->front().copied));  // without the lock: others compute meanwhile
    std::memcpy(values, to->front().memory, size_t(bytes));
  };
}

// Returns at once; the caller may then change the data.
void copy_to(void* device, const void* host, int64_t bytes) {
  if (bytes == 0) return;  // `host` may be null
  const DeviceLock lock = use_device();
  static auto& crates = *new std::array<PinnedList, 48>;  // by rank
  invariant(!recording(), "host data must be on the device before its kernels are recorded");
  const size_t rank = rank_of(bytes);
  PinnedList from = pinned(crates[rank], size_t{1} << rank);
  const auto [memory, copied] = from.front();
  std::memcpy(memory, host, size_t(bytes));
  DRAGOMAN_CUDA_CHECK(cudaMemcpyAsync(device, memory, size_t(bytes), cudaMemcpyHostToDevice, stream()));
  DRAGOMAN_CUDA_CHECK(cudaEventRecord(copied, stream()));
  crates[rank].splice(crates[rank].end(), from);
  ++so_far.uploads;
}

std::shared_ptr<void> copied(const void* host, int64_t bytes) {
  std::shared_ptr<void> copy = piece(bytes);
  copy_to(copy.get(), host, bytes);
  return copy;
}

}  // namespace

// Events are reused: creating one takes longer than recording it.
Moment now() {
  const DeviceLock lock = use_device();
  static auto& pool = *new std::vector<cudaEvent_t>;
  cudaEvent_t event = nullptr;
  if (pool.empty()) {
    DRAGOMAN_CUDA_CHECK(cudaEventCreate(&event));
  } else {
    event = pool.back();
    pool.pop_back();
  }
  Moment moment(event, [](void* e) {
    const DeviceLock returning = use_device();
    pool.push_back(static_cast<cudaEvent_t>(e));
  });
  DRAGOMAN_CUDA_CHECK(cudaEventRecord(event, stream()));
  return moment;
}

double seconds_between(const Moment& begin, const Moment& end) {
  float milliseconds = 0;
  DRAGOMAN_CUDA_CHECK(cudaEventSynchronize(static_cast<cudaEvent_t>(end.get())));
  DRAGOMAN_CUDA_CHECK(
      cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(begin.get()), static_cast<cudaEvent_t>(end.get())));
  return milliseconds / 1000.;
}

Memory chosen_memory() {
  const char* name = std::getenv("DRAGOMAN_GPU_MEMORY");
  const std::string value = name ? name : "";
  if (value == "plain") return Memory::plain;
  if (value == "tensors") return Memory::tensors;
  require(value.empty() || value == "range",
          "the environment variable DRAGOMAN_GPU_MEMORY is '{}', expected range, plain or tensors", value);
  const std::string refused = why_no_ranges();
  if (refused.empty()) return Memory::range;
  log_warning("{}: reserving half of the free GPU memory for tensors at once", refused);
  return Memory::plain;
}

Memory memory_kind() {
  static const Memory kind = chosen_memory();
  return kind;
}

const DeviceMemory& device_memory() {
  static const DeviceMemory memory = [] {
    DeviceMemory m{.download = download,
                   .finish = wait,
                   .upload = upload,
                   .send = send,
                   .counts = counts,
                   .now = now,
                   .seconds_between = seconds_between};
    switch (memory_kind()) {
      case Memory::range:
        allocate_ranges(m);
        break;
      case Memory::plain:
        allocate_plainly(m);
        break;
      case Memory::tensors:
        allocate_nothing(m);
        m.alone = alone;
    }
    return m;
  }();
  return memory;
}

const void* mirrored(const Tensor& x) {
  const DeviceLock lock = use_device();
  Mirror* mirror = x.mirror();
  invariant(mirror != nullptr, "kernel operands must be in device memory or have a Mirror");
  if (!mirror->copy) mirror->copy = copied(mirror->host, mirror->bytes);
  if (recording()) keep(mirror->copy);  // the host's data may be freed before the recording
  const auto offset = static_cast<const std::byte*>(x.data()) - static_cast<const std::byte*>(mirror->host);
  return static_cast<const std::byte*>(mirror->copy.get()) + offset;
}

void renew(Mirror& mirror) {
  const DeviceLock lock = use_device();
  if (!mirror.copy) mirror.copy = piece(mirror.bytes);
  copy_to(mirror.copy.get(), mirror.host, mirror.bytes);
}

Uploaded::Uploaded(const std::vector<int32_t>& values)
    : copy_(copied(values.data(), int64_t(values.size() * sizeof(int32_t)))) {}

}  // namespace dragoman::cuda
