#include "tests/op_check/gpu.h"

#include <dlfcn.h>

#include "backend/backend.h"
#include "backend/cuda_module.h"
#include "backend/registry.h"

namespace dragoman {

const Backend& gpu_on_host() {
  static const Backend one = cuda_backend(load_cuda_module({DRAGOMAN_CUDA_ON_HOST}), 0);
  return one;
}

int64_t heuristics_on_host() {
  gpu_on_host();
  void* const library = dlopen(DRAGOMAN_CUDA_ON_HOST, RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<int64_t (*)()>(dlsym(library, "cuda_on_host_heuristics"))();
}

const Backend& gpu() {
  static const Backend one = cuda_backend(load_cuda_module(cuda_module_files()), 0);
  return one;
}

std::string why_no_gpu() {
  static const std::string reason = [] {
    try {
      gpu();
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  }();
  return reason;
}

const Backend& test_backend(const std::string& name) {
  static const Backend dry = dry_like(backend("cpu"));
  if (name == "gpu") return gpu();
  if (name == "dry") return dry;
  return name == "gpu kernels on the host" ? gpu_on_host() : backend(name);
}

}  // namespace dragoman
