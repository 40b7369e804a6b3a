#include "backend/cuda/install.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include "backend/backend.h"
#include "backend/cuda/families.h"
#include "backend/cuda/gemm.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/recording.h"
#include "base/log.h"

namespace dragoman::cuda {
namespace {

std::string describe(int number) {
  cudaDeviceProp properties = {};
  int driver = 0;
  check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return fmt::format("CUDA {}.{} on {} (compute capability {}.{})", driver / 1000, driver % 1000 / 10, properties.name,
                     properties.major, properties.minor);
}

int capability_of(int number) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, number), "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

// No two GPUs, or instances of one (MIG), have the same. Empty if the driver has none.
std::string identity_of(int number) {
  CUuuid id = {};
  std::string digits;
  if (cuDeviceGetUuid(&id, number) != CUDA_SUCCESS) return digits;
  for (const char byte : id.bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string remedy(int number) {
  constexpr int least = 75;  // for CUDA 13
  const int capability = capability_of(number);
  return capability < least ? "compute capability 7.5 is the least"
                            : fmt::format("build with -DCMAKE_CUDA_ARCHITECTURES={}", capability);
}

// Of the GPU that was opened.
void require_code(int number) {
  constexpr int matrix_units = 80;
  const int capability = capability_of(number);
  const std::optional<int> code = code_for_device();
  if (!code)
    throw Error(fmt::format("this build has no code for GPU {}: {}", number, describe(number)),
                remedy(number) + "; without --devices, the CPU computes");
  if (code < matrix_units && capability >= matrix_units)
    log_warning("this build has code for compute capability {}.{}, which leaves the matrix units of GPU {} idle: {}",
                *code / 10, *code % 10, number, remedy(number));
}

}  // namespace

void install(Backend& b, int device, bool fast) {
  open_device(device);
  require_code(device);
  b.device = identity_of(device);
  b.memory = &device_memory();
  b.concurrent = false;
  b.multiplies_int8 = true;
  if (memory_kind() != Memory::tensors) b.recorder = &recorder;  // recordings need memory with fixed addresses
  b.multiplies_bfloat16 = has_matrix_units();
  b.arithmetic = describe(device) + (fast && has_matrix_units() ? ", TF32" : "");
  if (fast && has_matrix_units()) multiply_in_tf32();
  install_kernels(b);
}

std::vector<std::string> devices() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  std::vector<std::string> found;
  for (int i = 0; i < count; ++i) {
    check(cudaSetDevice(i), "cudaSetDevice");
    found.push_back(describe(i) + (code_for_device() ? "" : "; this build has no code for it: " + remedy(i)));
  }
  return found;
}

}  // namespace dragoman::cuda
