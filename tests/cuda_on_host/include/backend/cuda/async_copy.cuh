#pragma once
#include <cuda_runtime.h>

/// Stands in for copies that go on while the thread computes: they are made as late as possible, when it waits for
/// them.
namespace dragoman::cuda {

inline void copy_16_bytes(void* shared, const void* from, bool in_range) {
  cuda_on_host::copy_later(shared, in_range ? from : nullptr);
}

inline void wait_for_copies() { cuda_on_host::finish_copies(); }

}  // namespace dragoman::cuda
