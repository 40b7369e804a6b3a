#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dragoman {

/// What this process may compute on and what its kernels make of it. Sizes are bytes.
struct Devices {
  std::string cpu;     // the name that its maker gave it
  int cores = 0;       // that the system has
  int threads = 0;     // that kernels use: the cores that this process may use, unless OMP_NUM_THREADS says otherwise
  int64_t memory = 0;  // of the machine
  int64_t available = 0;               // of it, without swapping; 0: the system does not tell
  std::string onednn;                  // "2.6.3 on AVX2": version, and the instruction set it has chosen
  std::string kernels;                 // the instruction set that our own kernels have chosen
  std::vector<std::string> gpus = {};  // a line each …
  std::string no_gpu = {};             // … or why there is none
};
Devices find_devices();

/// The backend that --devices and --fast-math ask for: "cpu", or "cuda:1" for "1" and "cuda:1". Error for what names no
/// device, or several, and for fast mathematics on a CPU.
std::string backend_name(const std::vector<std::string>& devices, bool fast_math);

std::string devices_page(const Devices& devices);
nlohmann::ordered_json to_json(const Devices& devices);

}  // namespace dragoman
