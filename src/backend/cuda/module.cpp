#include "backend/cuda_module.h"

#include "backend/cuda/install.h"
#include "backend/cuda/nccl.h"

extern "C" const dragoman::CudaModule dragoman_cuda_module{DRAGOMAN_CUDA_BUILD_ID, dragoman::cuda::install,
                                                           dragoman::cuda::devices, dragoman::cuda::nccl};
