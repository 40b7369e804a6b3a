#include "cli/devices.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "backend/backend.h"
#include "backend/cuda_module.h"
#include "backend/registry.h"
#include "base/machine.h"
#include "base/threads.h"
#include "cli/fact_page.h"

namespace dragoman {
namespace {

// The value after "key<blanks>: " in one of the kernel's text files, or empty.
std::string field_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t value = line.find_first_not_of(" \t", colon == line.npos ? colon : colon + 1);
    return value == line.npos ? "" : line.substr(value);
  }
  return "";
}

}  // namespace

Devices find_devices() {
  const std::string name = field_of("/proc/cpuinfo", "model name");
  Devices here{.cpu = name.empty() ? "unknown" : name,
               .cores = int(sysconf(_SC_NPROCESSORS_ONLN)),
               .threads = thread_count(),
               .memory = machine_memory(),
               .available = available_memory(),
               .onednn = backend("cpu").library.substr(std::string_view("oneDNN ").size()),
               .kernels = backend("cpu").instructions};
  try {
    here.gpus = load_cuda_module(cuda_module_files()).devices();
    if (here.gpus.empty()) here.no_gpu = "none: the driver reports no device";
  } catch (const Error& error) {
    here.no_gpu = std::string("none: ") + error.what();
  }
  return here;
}

std::string devices_page(const Devices& d) {
  FactPage page("Hardware that dragoman can use here");
  page.heading("CPU");
  page.fact("name", d.cpu);
  page.fact("cores", fmt::to_string(d.cores));
  page.fact("threads", fmt::to_string(d.threads));
  page.fact("memory", exact_size(d.memory));
  if (d.available > 0) page.fact("available", exact_size(d.available));
  page.fact("oneDNN", d.onednn);
  page.fact("own kernels", d.kernels);
  page.heading("GPU");
  for (size_t i = 0; i < d.gpus.size(); ++i) page.fact(fmt::to_string(i), d.gpus[i]);
  if (d.gpus.empty()) page.fact("devices", d.no_gpu);
  return page.text();
}

nlohmann::ordered_json to_json(const Devices& d) {
  return {{"cpu",
           {{"name", d.cpu},
            {"cores", d.cores},
            {"threads", d.threads},
            {"memory_bytes", d.memory},
            {"available_bytes", d.available},
            {"onednn", d.onednn},
            {"own_kernels", d.kernels}}},
          {"gpus", d.gpus}};
}

}  // namespace dragoman
