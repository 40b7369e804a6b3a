#include "tests/cuda_on_host/memory.h"

#include <sys/mman.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>

#include "backend/cuda/memory.h"
#include "backend/cuda/recording.h"

namespace cuda_on_host {
namespace {

// base -> committed bytes. Never destroyed: mirrors of static tensors are released at exit.
std::map<std::byte*, int64_t>& ranges = *new std::map<std::byte*, int64_t>;
int unlocked = 0;

void protect(int how) {
  for (const auto& [base, bytes] : ranges)
    if (bytes > 0) mprotect(base, size_t(bytes), how);
}

}  // namespace

Unlocked::Unlocked() {
  if (unlocked++ == 0) protect(PROT_READ | PROT_WRITE);
}
Unlocked::~Unlocked() {
  if (--unlocked == 0) protect(PROT_NONE);
}

void clear(void* device, int value, size_t bytes) {
  issue([=] {
    const Unlocked memory;
    std::memset(device, value, bytes);
  });
}

}  // namespace cuda_on_host

namespace dragoman::cuda {

DeviceCounts so_far;  // requests that a GPU would have received

namespace {

using cuda_on_host::Unlocked;

std::array<int64_t, 48> idle = {};  // pieces in a GPU's pool, by rank

void* reserve(int64_t bytes) {
  void* base = mmap(nullptr, size_t(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  cuda_on_host::ranges[static_cast<std::byte*>(base)] = 0;
  return base;
}

bool commit(void* base, int64_t, int64_t to) {
  ++so_far.allocations;
  cuda_on_host::ranges[static_cast<std::byte*>(base)] = to;
  return true;
}

void release(void* base, int64_t reserved, int64_t) {
  cuda_on_host::ranges.erase(static_cast<std::byte*>(base));
  munmap(base, size_t(reserved));
}

void move(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return;  // an empty tensor may have no address
  const Unlocked memory;
  std::memcpy(to, from, size_t(bytes));
}

void wait() {
  invariant(!recording(), "the host must not wait for a device that is recording");
  ++so_far.waits;
}

void move_and_wait(void* to, const void* from, int64_t bytes) {
  move(to, from, bytes);
  wait();
}

PendingNumber send(const double* number) {
  double value;
  move(&value, number, sizeof value);
  return [value] { return value; };
}

}  // namespace

Memory memory_kind() {
  static const char* const asked = std::getenv("DRAGOMAN_GPU_MEMORY");
  return asked && std::string(asked) == "tensors" ? Memory::tensors : Memory::range;
}

void check(cudaError_t, const char*) {}
cudaStream_t stream() { return nullptr; }
bool has_matrix_units() { return true; }

// Each piece has pages of its own, which are unmapped when it is returned, so that later accesses crash.
std::shared_ptr<void> piece(int64_t bytes) {
  constexpr int64_t page = 4096;
  const int64_t whole = (bytes + page - 1) / page * page + page;
  const size_t rank = rank_of(bytes);
  idle[rank] > 0 ? --idle[rank] : ++so_far.allocations;
  void* base = reserve(whole);
  cuda_on_host::ranges[static_cast<std::byte*>(base)] = whole;
  std::shared_ptr<void> owned(base, [whole, rank](void* p) {
    release(p, whole, whole);
    ++idle[rank];
  });
  if (recording()) keep(owned);
  return owned;
}

namespace {

using Clock = std::chrono::steady_clock;

Moment now() { return std::make_shared<Clock::time_point>(Clock::now()); }

double seconds_between(const Moment& begin, const Moment& end) {
  const auto at = [](const Moment& m) { return *static_cast<const Clock::time_point*>(m.get()); };
  return std::chrono::duration<double>(at(end) - at(begin)).count();
}

}  // namespace

const DeviceMemory& device_memory() {
  static const DeviceMemory memory{.capacity = [] { return int64_t{1} << 32; },
                                   .reserve = reserve,
                                   .commit = commit,
                                   .release = release,
                                   .download = move_and_wait,
                                   .finish = wait,
                                   .upload = move_and_wait,
                                   .send = send,
                                   .counts = [] { return so_far; },
                                   .alone = memory_kind() == Memory::tensors ? piece : nullptr,
                                   .now = now,
                                   .seconds_between = seconds_between};
  return memory;
}

namespace {

void copy_to(void* device, const void* host, int64_t bytes) {
  invariant(!recording(), "host data must be on the device before its kernels are recorded");
  move(device, host, bytes);
  ++so_far.uploads;
}

}  // namespace

const void* mirrored(const Tensor& x) {
  Mirror* mirror = x.mirror();
  invariant(mirror != nullptr, "kernel operands must be in device memory or have a Mirror");
  if (!mirror->copy) {
    mirror->copy = piece(mirror->bytes);
    copy_to(mirror->copy.get(), mirror->host, mirror->bytes);
  }
  const auto offset = static_cast<const std::byte*>(x.data()) - static_cast<const std::byte*>(mirror->host);
  return static_cast<const std::byte*>(mirror->copy.get()) + offset;
}

void renew(Mirror& mirror) {
  if (!mirror.copy) mirror.copy = piece(mirror.bytes);
  copy_to(mirror.copy.get(), mirror.host, mirror.bytes);
}

Uploaded::Uploaded(const std::vector<int32_t>& values) : copy_(piece(int64_t(values.size() * sizeof(int32_t)))) {
  copy_to(copy_.get(), values.data(), int64_t(values.size() * sizeof(int32_t)));
}

}  // namespace dragoman::cuda
