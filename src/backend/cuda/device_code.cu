#include "backend/cuda/memory.h"

namespace dragoman::cuda {
namespace {

__global__ void any_kernel() {}

// What the runtime answers if it finds no code, or none that the driver can translate.
bool is_missing(cudaError_t status) {
  return status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
         status == cudaErrorUnsupportedPtxVersion;
}

}  // namespace

std::optional<int> code_for_device() {
  cudaFuncAttributes found = {};
  const cudaError_t status = cudaFuncGetAttributes(&found, reinterpret_cast<const void*>(any_kernel));
  if (is_missing(status)) return cudaGetLastError(), std::nullopt;
  check(status, "cudaFuncGetAttributes");
  return found.ptxVersion;
}

}  // namespace dragoman::cuda
