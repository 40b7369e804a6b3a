#pragma once
#include "backend/cuda/device.cuh"

namespace dragoman::cuda {

__device__ inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

}  // namespace dragoman::cuda
