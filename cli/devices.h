#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dragoman {

/// The hardware available to this process and the instruction sets its kernels use. Sizes are bytes.
struct Devices {
  std::string cpu;                     // model name
  int cores = 0;                       // of the system
  int threads = 0;                     // used by kernels: the cores available to this process, or OMP_NUM_THREADS
  int64_t memory = 0;                  // of the machine
  int64_t available = 0;               // without swapping; 0: unknown
  std::string onednn;                  // "2.6.3 on AVX2": version and selected instruction set
  std::string kernels;                 // instruction set selected by our own kernels
  std::vector<std::string> gpus = {};  // one line each …
  std::string no_gpu = {};             // … or why there is none
};
Devices find_devices();

std::string devices_page(const Devices& devices);
nlohmann::ordered_json to_json(const Devices& devices);

}  // namespace dragoman
