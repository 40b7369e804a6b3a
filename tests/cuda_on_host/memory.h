#pragma once
#include <cstddef>

namespace cuda_on_host {

/// Only kernels and copies may touch device memory. Any other access on the host crashes, as it would with a GPU.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
};

/// Copies bytes. Sanitizers check this function, but not the simulated hardware (CMakeLists.txt).
void checked_copy(void* to, const void* from, size_t bytes);

}  // namespace cuda_on_host
