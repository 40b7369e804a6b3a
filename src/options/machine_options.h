#pragma once
#include <string>
#include <vector>

namespace dragoman {

/// Options of commands that compute. Their rows are in options/shared_flags.h.
struct MachineOptions {
  int cpu_threads = 0;  // 0: OMP_NUM_THREADS, or else one per core that the process may use
  bool quiet = false;   // only warnings and errors on stderr
};

/// Of commands that compute on the CPU or on a GPU.
struct DeviceOptions : MachineOptions {
  std::vector<std::string> devices = {"cpu"};  // "cpu", or "cuda:0" and others
  bool fast_math = false;                      // on a GPU: compute float32 products in TF32
};

/// Of commands whose work several processes can share.
struct SharedWorkOptions : DeviceOptions {
  int processes = 1;
  double comm_timeout = 60;  // seconds of silence after which a rank counts as lost; 0: never
  bool profile = false;
};

}  // namespace dragoman
