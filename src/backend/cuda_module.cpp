#include "backend/cuda_module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "backend/backend.h"
#include "backend/registry.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

constexpr const char* cublas_lt = "libcublasLt.so.13";
constexpr const char* advice = "build with -DDRAGOMAN_CUDA=ON, or leave out --devices to compute on the CPU";

// Searches the folders of Python packages, which contain CUDA's libraries if PyTorch is installed.
void add_wheels(std::vector<std::string>& found, const fs::path& python) {
  std::error_code none;
  for (const auto& version : fs::directory_iterator(python, fs::directory_options::skip_permission_denied, none)) {
    if (!version.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const fs::path file = version.path() / packages / "nvidia/cu13/lib" / cublas_lt;
      if (fs::exists(file, none)) found.push_back(file);
    }
  }
}

// cuBLASLt may be outside the loader's search path. Once loaded, it is found by its name.
bool load_cublas_lt() {
  const char* path = std::getenv("PATH");
  for (const std::string& file : cublas_lt_files(path ? path : ""))
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return true;
  return false;
}

void* open_library(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library) return library;
  const std::string reason = dlerror();
  if (reason.find(cublas_lt) != std::string::npos && load_cublas_lt())
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && reason.find("undefined symbol") != std::string::npos)
    throw Error(fmt::format("cannot load {}: {}", file, reason),
                "it belongs to another build of dragoman: reinstall both");
  if (!library)
    throw Error(
        fmt::format("cannot load {}: {}", file, reason),
        fmt::format("libcuda.so.1 comes with NVIDIA's driver, {} with CUDA 13 or PyTorch; without --devices, the "
                    "CPU computes",
                    cublas_lt));
  return library;
}

}  // namespace

const char* cuda_build_id() { return DRAGOMAN_CUDA_BUILD_ID; }

std::vector<std::string> cuda_module_files() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&cuda_build_id), &here);
  const fs::path folder = fs::canonical(here.dli_fname).parent_path();
  return {folder / "libdragoman_cuda.so", folder / "dragoman/libdragoman_cuda.so"};
}

std::vector<std::string> cublas_lt_files(std::string_view path) {
  std::vector<std::string> found;
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    const fs::path folder(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    std::error_code none;
    if (folder.is_absolute() && fs::exists(folder / "python3", none)) add_wheels(found, folder.parent_path() / "lib");
  }
  return found;
}

const CudaModule& load_cuda_module(const std::vector<std::string>& files) {
  const auto file = std::find_if(files.begin(), files.end(), [](const std::string& f) { return fs::exists(f); });
  if (file == files.end())
    throw Error(fmt::format("there is no library for GPUs, looked for {}", fmt::join(files, " and ")), advice);
  void* library = open_library(*file);
  const auto* module = static_cast<const CudaModule*>(dlsym(library, "dragoman_cuda_module"));
  require(module && std::string_view(module->build) == cuda_build_id(),
          "{} belongs to another build of dragoman; reinstall both", *file);
  return *module;
}

Backend cuda_backend(const CudaModule& module, int device, bool fast) {
  Backend b{.name = fmt::format("cuda:{}{}", device, fast ? fast_backend : "")};
  module.install(b, device, fast);
  return b;
}

}  // namespace dragoman
