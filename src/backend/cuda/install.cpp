#include "backend/cuda/install.h"

#include <cuda_runtime.h>

#include "backend/backend.h"
#include "backend/cuda/families.h"
#include "backend/cuda/gemm.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/recording.h"

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

}  // namespace

void install(Backend& b, int device, bool fast) {
  open_device(device);
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
  for (int i = 0; i < count; ++i) found.push_back(describe(i));
  return found;
}

}  // namespace dragoman::cuda
