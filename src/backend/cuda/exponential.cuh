#pragma once
#include <cuda_runtime.h>

namespace dragoman::cuda {

/// e to the x, where T is the type of the factors that x was computed from: 16 bits need no more digits than the fast
/// one has.
template <class T>
__device__ float exponential(float x) {
  return sizeof(T) == 2 ? __expf(x) : expf(x);
}

}  // namespace dragoman::cuda
