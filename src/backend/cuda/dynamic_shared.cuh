#pragma once

namespace dragoman::cuda {

/// The dynamic shared memory of this block.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
}

}  // namespace dragoman::cuda
