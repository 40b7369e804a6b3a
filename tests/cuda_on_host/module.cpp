#include "backend/backend.h"
#include "backend/cuda_module.h"

#include "backend/cuda/families.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/recording.h"

namespace {

using namespace dragoman;

void install(Backend& b, int device, bool) {
  require(device == 0, "there is no GPU {}: this machine has 1, counted from 0", device);
  b.memory = &cuda::device_memory();
  b.concurrent = false;
  if (cuda::memory_kind() != cuda::Memory::tensors) b.recorder = &cuda::recorder;
  b.arithmetic = "the kernels for GPUs, on the host";
  cuda::install_kernels(b);
}

}  // namespace

extern "C" const CudaModule dragoman_cuda_module{
    DRAGOMAN_CUDA_BUILD_ID, install, [] { return std::vector<std::string>{"the host, in place of a GPU"}; }};
