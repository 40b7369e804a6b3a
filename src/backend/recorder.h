#pragma once
#include <memory>

#include "base/error.h"
#include "tensor/tensor.h"

namespace dragoman {

/// That a device could not record kernels or run a recording. The same kernels may well run one by one.
class RecordingFailed : public Error {
 public:
  using Error::Error;
};

/// Calls of kernels that a device keeps, to be made again all at once, which costs the host as much as one (CUDA
/// graphs). They are the same kernels with the same numbers at the same addresses, on what lies there by then: whoever
/// runs a recording sees to it that memory which it uses is nobody else's by then. What the host makes for kernels has
/// to lie on the device before, and nobody may wait for the device while it records; both are broken invariants.
/// `begin`, `end` and `run` throw RecordingFailed, after which nothing is being recorded.
struct Recorder {
  void (*begin)();                 // from here on kernels are recorded, and do not run
  std::shared_ptr<void> (*end)();  // the recording, with what its kernels took for themselves
  void (*abandon)();               // in place of `end`, where a kernel has failed
  void (*run)(const std::shared_ptr<void>& recording);
  void (*renew)(Mirror& mirror);  // the copy becomes what the host has now, in its old place where there is one
};

}  // namespace dragoman
