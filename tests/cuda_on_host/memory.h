#pragma once

namespace cuda_on_host {

/// Only kernels and copies may touch device memory. Any other access on the host crashes, as it would with a GPU.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
};

}  // namespace cuda_on_host
