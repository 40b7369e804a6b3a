#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

/// The device: its one stream, its memory for tensors, and what it keeps of the host's integers. Everything happens in
/// the order of the stream, so memory may be handed on as soon as the last kernel that uses it has been launched.
namespace dragoman::cuda {

/// Throws Error with what CUDA says of a failed call.
void check(cudaError_t status, const char* call);
#define DRAGOMAN_CUDA_CHECK(call) ::dragoman::cuda::check(call, #call)

/// Chooses the GPU that this process computes on. Throws Error when there is none of that number.
void open_device(int number);
cudaStream_t stream();
/// Whether its matrix units multiply bfloat16 and TF32: from compute capability 8.0 on.
bool has_matrix_units();

/// How tensors get memory.
enum class Memory {
  range,   // from one range of addresses, to which memory is added
  plain,   // from one piece of half of what is free, where the driver has no such ranges
  tensors  // each has a piece of its own, exactly as large as it is: for compute-sanitizer
};
/// As the environment variable DRAGOMAN_GPU_MEMORY says, else the first that the device has.
Memory memory_kind();
const DeviceMemory& device_memory();
extern DeviceCounts so_far;  // what was asked of the device

/// A small piece of device memory, from a pool that is kept. A recording keeps those that its kernels take.
std::shared_ptr<void> piece(int64_t bytes);
/// Pieces of one rank have one size, 2^rank bytes, and serve one after another.
inline size_t rank_of(int64_t bytes) { return size_t(std::bit_width(uint64_t(std::max<int64_t>(bytes, 256) - 1))); }

/// The device's copy of what the host made; the first call makes it, but not for a recording, whose kernels would see
/// these values forever.
const void* mirrored(const Tensor& x);

/// Integers that one kernel reads: keep what is returned until it is launched.
class Uploaded {
 public:
  explicit Uploaded(const std::vector<int32_t>& values);
  const int32_t* data() const { return static_cast<const int32_t*>(copy_.get()); }

 private:
  std::shared_ptr<void> copy_;
};

}  // namespace dragoman::cuda
