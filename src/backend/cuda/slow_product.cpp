#include "backend/cuda/gemm.h"
#include "backend/cuda/memory.h"
#include "base/log.h"

namespace dragoman::cuda {
namespace {

std::string name_of(const Factor& f) {
  return fmt::format("{}{}", f.matrix.shape(), f.transposed ? " transposed" : "");
}

}  // namespace

void count_slow_product(const Gemm& g) {
  const DeviceLock lock = use_device();
  if (++so_far.slow_products > 1) return;
  log_warning(
      "cuBLASLt has no kernel for the product of {} and {} in {} on this GPU: a slow kernel computes it and others "
      "like it; --profile counts them",
      name_of(g.a), name_of(g.b), g.a.matrix.dtype());
}

}  // namespace dragoman::cuda
