#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct Backend;
struct PeerLinks;

/// The cuda backend is a separate library, libdragoman_cuda.so, loaded when a GPU is requested: a program linked
/// against CUDA would not start on a machine without it. The library exports this struct as the symbol
/// `dragoman_cuda_module`. It links libdragoman.so.0, so both must come from the same build.
struct CudaModule {
  const char* build;  // equals cuda_build_id()
  /// Throws Error when there is no such GPU. `fast`: products of f32 may use TF32.
  void (*install)(Backend& backend, int device, bool fast);
  std::vector<std::string> (*devices)();  // one line per GPU; throws Error when CUDA does not work here
  const PeerLinks& (*peers)();            // between GPUs of several processes
};

/// Identifies the build of the interface between libdragoman.so.0 and the cuda backend.
const char* cuda_build_id();

/// Loads the library, once, from the first of the given files that exists. Throws Error that lists all files tried and
/// what is missing.
const CudaModule& load_cuda_module(const std::vector<std::string>& files);
/// The files to try: beside libdragoman.so.0 (in a build folder), and in dragoman/ beside it (in an installation).
std::vector<std::string> cuda_module_files();

/// Copies of cuBLASLt in the Python installations on a search path such as "/opt/torch/bin:/usr/bin": the first one is
/// used if the loader finds no other.
std::vector<std::string> cublas_lt_files(std::string_view path);

/// Backend "cuda:N" or, if `fast`, "cuda:N:tf32".
Backend cuda_backend(const CudaModule& module, int device, bool fast = false);

}  // namespace dragoman
