#include "backend/cuda/recording.h"

#include <cuda_runtime.h>

#include <utility>

#include "backend/cuda/memory.h"
#include "base/log.h"

namespace dragoman::cuda {
namespace {

/// Destroying a graph that still runs is safe: CUDA frees it when it has finished (cuGraphExecDestroy), and its pieces
/// are reused only by work launched after it.
struct Recording {
  DeviceLock lock = use_device();  // while it is being made
  cudaGraphExec_t graph = nullptr;
  std::vector<std::shared_ptr<void>> pieces = {};

  Recording() = default;
  Recording(const Recording&) = delete;
  ~Recording() {
    const DeviceLock destroying = use_device();
    if (graph) cudaGraphExecDestroy(graph);
  }
};

std::shared_ptr<Recording> current;
bool warned = false;

// Clears the error: if the device itself has failed, the next kernel reports that again.
void check_recording(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  const std::string what = fmt::format("CUDA: {} failed: {}", call, cudaGetErrorString(status));
  if (!std::exchange(warned, true)) log_warning("{}; kernels are launched one by one, which is slower", what);
  throw RecordingFailed(what);
}

// Relaxed mode: memory may be allocated for tensors and pieces during the capture, which does not involve the stream.
void begin() {
  auto recording = std::make_shared<Recording>();
  invariant(!current, "one recording at a time");
  check_recording(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  current = std::move(recording);
}

std::shared_ptr<void> end() {
  const std::shared_ptr<Recording> recording = std::exchange(current, nullptr);
  cudaGraph_t graph = nullptr;
  check_recording(cudaStreamEndCapture(stream(), &graph), "cudaStreamEndCapture");
  const cudaError_t status = cudaGraphInstantiate(&recording->graph, graph, 0);
  cudaGraphDestroy(graph);
  check_recording(status, "cudaGraphInstantiate");
  ++so_far.recordings;
  recording->lock.unlock();
  return recording;
}

// Clears errors: the cause has already been reported and may have invalidated the capture.
void abandon() {
  const std::shared_ptr<Recording> recording = std::exchange(current, nullptr);
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream(), &graph);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}

void run(const std::shared_ptr<void>& recording) {
  const DeviceLock lock = use_device();
  check_recording(cudaGraphLaunch(static_cast<const Recording*>(recording.get())->graph, stream()), "cudaGraphLaunch");
  ++so_far.replays;
}

}  // namespace

const Recorder recorder{begin, end, abandon, run, renew};

bool recording() { return current != nullptr; }

void keep(std::shared_ptr<void> piece) { current->pieces.push_back(std::move(piece)); }

}  // namespace dragoman::cuda
