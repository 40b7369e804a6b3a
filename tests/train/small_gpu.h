#pragma once
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/error.h"

namespace dragoman {

/// A GPU as far as memory goes: the CPU's kernels, and of their memory as much as a test says.
struct SmallGpu {
  static inline int64_t free = 0;   // bytes that it says to have
  static inline int64_t there = 0;  // that it has

  static void* reserve(int64_t bytes) {
    void* const base =
        mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(base != MAP_FAILED,
            "the stand-in for a GPU needs {} MiB of address space, of which this machine gives none: {} (ulimit -v, "
            "vm.overcommit_memory)",
            bytes >> 20, std::strerror(errno));
    return base;
  }
  static void move(void* to, const void* from, int64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, size_t(bytes));
  }
  static PendingBytes send(const void* from, int64_t bytes) {
    const auto* first = static_cast<const char*>(from);
    return [now = std::vector<char>(first, first + bytes)](void* to) { move(to, now.data(), int64_t(now.size())); };
  }
  static const Backend& backend() {
    static const DeviceMemory memory{[] { return free; },
                                     reserve,
                                     [](void*, int64_t, int64_t to) { return to <= there; },
                                     [](void* base, int64_t bytes, int64_t) { munmap(base, size_t(bytes)); },
                                     move,
                                     [] {},
                                     move,
                                     send};
    static const Backend gpu = [] {
      Backend b = dragoman::backend("cpu");
      b.memory = &memory;
      b.multiplies_bfloat16 = false;  // float32 on any machine
      return b;
    }();
    return gpu;
  }
};

}  // namespace dragoman
