#include "backend/cuda_module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "backend/backend.h"
#include "backend/registry.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

constexpr const char* advice = "build with -DDRAGOMAN_CUDA=ON, or leave out --devices to compute on the CPU";

}  // namespace

const char* cuda_build_id() { return DRAGOMAN_CUDA_BUILD_ID; }

std::vector<std::string> cuda_module_files() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  return {folder / "libdragoman_cuda.so", (folder / "../lib/dragoman/libdragoman_cuda.so").lexically_normal()};
}

const CudaModule& load_cuda_module(const std::vector<std::string>& files) {
  const auto file = std::find_if(files.begin(), files.end(), [](const std::string& f) { return fs::exists(f); });
  if (file == files.end())
    throw Error(fmt::format("there is no library for GPUs, looked for {}", fmt::join(files, " and ")), advice);
  void* library = dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(fmt::format("cannot load {}: {}", *file, dlerror()),
                "libcuda.so.1 comes with NVIDIA's driver, libcublasLt.so.13 with CUDA 13");
  const auto* module = static_cast<const CudaModule*>(dlsym(library, "dragoman_cuda_module"));
  require(module && std::string_view(module->build) == cuda_build_id(),
          "{} is of another build than this dragoman; install both anew", *file);
  return *module;
}

Backend cuda_backend(const CudaModule& module, int device, bool fast) {
  Backend b{.name = fmt::format("cuda:{}{}", device, fast ? fast_backend : "")};
  module.install(b, device, fast);
  return b;
}

}  // namespace dragoman
