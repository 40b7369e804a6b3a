#pragma once
#include <memory>

#include "backend/recorder.h"

/// Kernels that are kept, to be launched again at once: CUDA graphs, captured from the stream.
namespace dragoman::cuda {

extern const Recorder recorder;

bool recording();                        // whether kernels are recorded as they are launched, and do not run
void keep(std::shared_ptr<void> piece);  // until the recording in progress is forgotten
void renew(Mirror& mirror);              // see Recorder

}  // namespace dragoman::cuda
