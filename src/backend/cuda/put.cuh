#pragma once
#include "backend/backend.h"
#include "backend/cuda/values.cuh"

namespace dragoman::cuda {

/// A gradient in a kernel: writes or adds; does nothing if the gradient is not wanted.
struct Put {
  Values to;
  bool adds = false;

  Put() = default;
  explicit Put(const Grad& g) : to(g.tensor), adds(g.adds()) {}
  __host__ __device__ explicit operator bool() const { return bool(to); }
  __device__ void operator()(int64_t n, int64_t d, float value) const {
    if (to) to.set(n, d, adds ? to(n, d) + value : value);
  }
};

}  // namespace dragoman::cuda
