#include "tensor/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/grouped.h"
#include "base/machine.h"
#include "base/range_allocator.h"

namespace dragoman {
namespace {

constexpr int64_t alignment = 64;            // bytes: a cache line, and the widest vector register
constexpr int64_t device_alignment = 256;    // preferred by a GPU's wide loads and libraries
constexpr int64_t step = int64_t{32} << 20;  // bytes by which a device's memory grows

}  // namespace

struct Arena::Pool {
  std::byte* base = nullptr;
  const DeviceMemory* device = nullptr;
  int64_t committed = 0;  // device memory: bytes from the base
  int64_t capacity = 0, peak = 0, used = 0;
  RangeAllocator blocks;  // in bytes

  ~Pool() {
    if (!base) return;
    device ? device->release(base, capacity, committed) : void(munmap(base, size_t(capacity)));
  }

  // A device may have less memory than it reported, as other processes take some too.
  int64_t room() const { return device && blocks.end() <= capacity ? committed : capacity; }

  // Whether memory is committed up to the end of the last block.
  bool commit() {
    const int64_t end = blocks.end();
    if (end > capacity) return false;
    if (!device || device->alone || end <= committed) return true;
    const int64_t wanted = std::min(capacity, (end + step - 1) / step * step);
    if (!device->commit(base, committed, wanted)) return false;
    committed = wanted;
    return true;
  }

  // Whole pages of what is free.
  void give_to_system(int64_t begin, int64_t end) const {
    const int64_t page = sysconf(_SC_PAGE_SIZE), from = (begin + page - 1) / page * page, to = end / page * page;
    if (from < to) madvise(base + from, size_t(to - from), MADV_DONTNEED);
  }

  int64_t take(int64_t bytes) {
    const int64_t offset = blocks.take(bytes);
    used += bytes;
    peak = std::max(peak, blocks.end());
    return offset;
  }

  void give_back(int64_t offset, int64_t bytes) {
    used -= bytes;
    blocks.give_back(offset, bytes);
  }
};

Arena::Arena(Reserve reserve, int64_t capacity) : pool_(std::make_shared<Pool>()) {
  const bool touchable = reserve == Reserve::memory;
  pool_->capacity = capacity > 0 ? capacity : touchable ? machine_memory() : int64_t{1} << 44;
  pool_->capacity = std::min(pool_->capacity, addresses_left() / 4);  // others need some, too
  const auto mapped = [&] {
    return mmap(nullptr, size_t(pool_->capacity), touchable ? PROT_READ | PROT_WRITE : PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  void* base = mapped();
  // Not every machine has so many addresses: on ARM they may have 39 bits (Raspberry Pi OS).
  for (; base == MAP_FAILED && !touchable && pool_->capacity > int64_t{1} << 30; base = mapped()) pool_->capacity /= 2;
  if (base == MAP_FAILED)
    throw OutOfMemory(fmt::format("cannot reserve {} MiB of address space", pool_->capacity >> 20),
                      "raise the limit on virtual memory (ulimit -v)");
  pool_->base = static_cast<std::byte*>(base);
}

Arena::Arena(const DeviceMemory& device, int64_t capacity) : pool_(std::make_shared<Pool>()) {
  pool_->device = &device;
  pool_->capacity = (capacity > 0 ? capacity : device.capacity()) / step * step;
  if (pool_->capacity > 0) pool_->base = static_cast<std::byte*>(device.reserve(pool_->capacity));
  if (!pool_->base)
    throw OutOfMemory(fmt::format("the device has too little free memory for tensors: {} MiB", pool_->capacity >> 20),
                      "nvidia-smi shows what else uses its memory");
}

Tensor Arena::allocate(Shape shape, DType dtype) {
  const int64_t unit = pool_->device ? device_alignment : alignment;
  const int64_t bytes = std::max(unit, (shape.elements() * size_of(dtype) + unit - 1) / unit * unit);
  const int64_t peak = pool_->peak, offset = pool_->take(bytes);
  if (!pool_->commit()) {
    pool_->give_back(offset, bytes);
    pool_->peak = peak;
    throw OutOfMemory(fmt::format("out of memory: a tensor {} of {} MiB does not fit into {} MiB, {} of them in use",
                                  shape, mebibytes(bytes), pool_->room() >> 20, pool_->used >> 20));
  }
  std::byte* data = pool_->base + offset;
  std::shared_ptr<void> owner(data, [pool = pool_, offset, bytes](void*) { pool->give_back(offset, bytes); });
  if (pool_->device && pool_->device->alone) {
    const auto alone = pool_->device->alone(std::max<int64_t>(1, shape.elements() * size_of(dtype)));
    data = static_cast<std::byte*>(alone.get());
    owner = std::shared_ptr<void>(data, [owner, alone](void*) {});
  }
  return Tensor(std::move(owner), data, shape, dtype, pool_->device);
}

int64_t Arena::peak() const { return pool_->peak; }
int64_t Arena::in_use() const { return pool_->used; }

void Arena::reset_peak() {
  if (!pool_->device) {
    for (const auto& [offset, bytes] : pool_->blocks.holes()) pool_->give_to_system(offset, offset + bytes);
    pool_->give_to_system(pool_->blocks.end(), pool_->peak);
  }
  pool_->peak = pool_->blocks.end();
}

}  // namespace dragoman
