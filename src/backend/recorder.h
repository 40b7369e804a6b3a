#pragma once
#include <memory>

#include "base/error.h"
#include "tensor/tensor.h"

namespace dragoman {

/// Thrown when a device cannot record kernels or run a recording. The same kernels may still run one by one.
class RecordingFailed : public Error {
 public:
  using Error::Error;
};

/// Records kernel calls on a device and replays them together, at the host cost of one call (CUDA graphs). A replay
/// runs the same kernels with the same numbers at the same addresses, on the data that are there then: the caller
/// ensures that nothing else uses the memory of the recording meanwhile. Data that the host makes for kernels must be
/// on the device before recording, and nothing may wait for the device while it records; violations break invariants.
/// `begin`, `end` and `run` throw RecordingFailed, after which nothing is being recorded; the first time they also warn
/// that kernels are launched one by one.
struct Recorder {
  void (*begin)();                 // from now on kernels are recorded, not run
  std::shared_ptr<void> (*end)();  // the recording, with its kernels' own allocations
  void (*abandon)();               // instead of `end`, after a kernel failed
  void (*run)(const std::shared_ptr<void>& recording);
  void (*renew)(Mirror& mirror);  // updates the copy from the host, in place if it exists
};

}  // namespace dragoman
