#pragma once
#include <string>

#include "backend/backend.h"

namespace dragoman {

/// The kernels for GPUs, compiled for the host, with memory of their own (tests/cuda_on_host).
const Backend& gpu_on_host();
/// How many products cuBLASLt's stand-in there was asked to choose a kernel for.
int64_t heuristics_on_host();

/// The first GPU of this machine; `why_no_gpu` is empty if it can be used.
const Backend& gpu();
std::string why_no_gpu();

/// "gpu", "gpu kernels on the host", or a name that backend/registry.h knows.
const Backend& test_backend(const std::string& name);

}  // namespace dragoman
