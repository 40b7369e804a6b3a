#include "backend/cuda/recording.h"

#include <cuda_runtime.h>

#include <vector>

#include "backend/cuda/memory.h"

namespace dragoman::cuda {
namespace {

/// The work a GPU would have been given, with the addresses of that time.
struct Recording {
  std::vector<std::function<void()>> work = {};
  std::vector<std::shared_ptr<void>> pieces = {};
};

std::shared_ptr<Recording> current;

void begin() {
  invariant(!current, "one recording at a time");
  current = std::make_shared<Recording>();
}

std::shared_ptr<void> end() {
  ++so_far.recordings;
  return std::exchange(current, nullptr);
}

void run(const std::shared_ptr<void>& recording) {
  invariant(!current, "recordings do not hold one another");
  ++so_far.replays;
  for (const auto& work : static_cast<const Recording*>(recording.get())->work) work();
}

}  // namespace

const Recorder recorder{begin, end, [] { current = nullptr; }, run, renew};

bool recording() { return current != nullptr; }

void keep(std::shared_ptr<void> piece) { current->pieces.push_back(std::move(piece)); }

}  // namespace dragoman::cuda

void cuda_on_host::issue(std::function<void()> work) {
  using dragoman::cuda::current;
  if (!current) return work();
  current->work.push_back(std::move(work));
}
