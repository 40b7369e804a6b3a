#include "tests/op_check/gpu.h"

#include <filesystem>

#include "backend/backend.h"
#include "backend/cuda_module.h"
#include "backend/registry.h"

namespace dragoman {

const Backend& gpu_on_host() {
  static const Backend one = cuda_backend(load_cuda_module({DRAGOMAN_CUDA_ON_HOST}), 0);
  return one;
}

// Where it was built, or, in a build folder that has moved, two folders above this program.
const Backend& gpu() {
  const auto moved = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../../libdragoman_cuda.so";
  static const Backend one = cuda_backend(load_cuda_module({DRAGOMAN_CUDA_MODULE, moved.string()}), 0);
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
  if (name == "gpu") return gpu();
  return name == "gpu kernels on the host" ? gpu_on_host() : backend(name);
}

}  // namespace dragoman
