#pragma once
#include <cuda_runtime.h>

namespace dragoman::cuda {

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(cuda_on_host::dynamic_shared_memory());
}

}  // namespace dragoman::cuda
