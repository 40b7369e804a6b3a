#pragma once
#include <memory>

#include "backend/recorder.h"

/// Kernels recorded as CUDA graphs, captured from the stream, and launched again all at once.
namespace dragoman::cuda {

extern const Recorder recorder;

bool recording();                        // whether launched kernels are recorded instead of run
void keep(std::shared_ptr<void> piece);  // for as long as the recording in progress exists
void renew(Mirror& mirror);              // see Recorder

}  // namespace dragoman::cuda
