#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

/// The device: its only stream, its memory for tensors, and its copies of the host's integers. Everything runs in
/// stream order, so memory may be reused as soon as the last kernel that uses it has been launched. Threads (engines,
/// models of a server, loading) share the device and take turns: what calls CUDA does so under use_device().
namespace dragoman::cuda {

/// Throws DeviceError with CUDA's description, or OutOfMemory, if a call failed.
void check(cudaError_t status, const char* call);
#define DRAGOMAN_CUDA_CHECK(call) ::dragoman::cuda::check(call, #call)

/// Selects the GPU that this process computes on. Throws Error if there is no GPU of that number.
void open_device(int number);
int device_number();  // of that GPU
/// Selects that GPU for this thread, and keeps other threads away while the result lives. A thread may have several. It
/// holds one while it records, as what others launched would be recorded too.
using DeviceLock = std::unique_lock<std::recursive_mutex>;
DeviceLock use_device();
cudaStream_t stream();
/// The compute capability, times 10, that the kernels were compiled for which the selected GPU runs; nothing if this
/// library has no code for it.
std::optional<int> code_for_device();
/// Whether kernels use matrix units that multiply bfloat16 and TF32: both the GPU and the code for it have compute
/// capability 8.0 or later.
bool has_matrix_units();
/// Bytes of dynamic shared memory that a block of threads may have, besides 1 KiB that its kernel declares.
int64_t most_shared_bytes();

/// How memory for tensors is allocated.
enum class Memory {
  range,   // from one range of addresses, to which memory is mapped as needed
  plain,   // from one allocation of half of the free memory, if the driver has no such ranges
  tensors  // one allocation of the exact size per tensor: for compute-sanitizer
};
/// As set by the environment variable DRAGOMAN_GPU_MEMORY, else the first kind that the device supports.
Memory memory_kind();
const DeviceMemory& device_memory();
extern DeviceCounts so_far;  // statistics of this device

/// Sets all bytes of a tensor without padding to 0.
void clear(const Tensor& x);

/// A small block of device memory, from a pool that is never freed. A recording keeps the pieces its kernels use.
std::shared_ptr<void> piece(int64_t bytes);
/// All pieces of one rank have the same size, 2^rank bytes, and are reused.
inline size_t rank_of(int64_t bytes) { return size_t(std::bit_width(uint64_t(std::max<int64_t>(bytes, 256) - 1))); }

/// The device's copy of data that the host made. The first call creates it. It must exist before a recording begins:
/// otherwise the recorded kernels would see the values of that moment forever.
const void* mirrored(const Tensor& x);

/// Integers that kernels read. Must live until these have been launched.
class Uploaded {
 public:
  explicit Uploaded(const std::vector<int32_t>& values);
  const int32_t* data() const { return static_cast<const int32_t*>(copy_.get()); }

 private:
  std::shared_ptr<void> copy_;
};

}  // namespace dragoman::cuda
