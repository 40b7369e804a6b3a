#pragma once
#include <cuda_runtime.h>

namespace dragoman::cuda {

/// e to the x. T is the type of the factors of products (logits: the type in which they are stored): results of 16-bit
/// ones need no more digits than the fast exponential function has.
template <class T>
__device__ float exponential(float x) {
  return sizeof(T) == 2 ? __expf(x) : expf(x);
}

}  // namespace dragoman::cuda
