#pragma once

namespace cuda_on_host {

/// Device memory is there for kernels and copies alone. Whoever else touches it on the host dies of it, as tensors on a
/// GPU are no memory of the host's either.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
};

}  // namespace cuda_on_host
