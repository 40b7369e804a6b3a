#pragma once
#include <cstdint>
#include <nv/target>

/// Copies from device to shared memory that go on while the thread computes. GPUs before compute capability 8.0 copy
/// in the call.
namespace dragoman::cuda {

/// Copies 16 bytes, or writes zeros if `in_range` is false. Both addresses are multiples of 16.
__device__ inline void copy_16_bytes(void* shared, const void* from, bool in_range) {
  NV_IF_ELSE_TARGET(
      NV_PROVIDES_SM_80,
      (asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(uint32_t(__cvta_generic_to_shared(shared))),
                    "l"(from), "r"(in_range ? 16 : 0)
                    : "memory");),
      (*static_cast<uint4*>(shared) = in_range ? *static_cast<const uint4*>(from) : uint4{};))
}

/// Waits for the copies of this thread. Other threads see them after the next barrier.
__device__ inline void wait_for_copies() {
  NV_IF_TARGET(NV_PROVIDES_SM_80, (asm volatile("cp.async.wait_all;" ::: "memory");))
}

}  // namespace dragoman::cuda
