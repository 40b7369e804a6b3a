#include "cli/devices.h"

#include <dnnl.h>
#include <fmt/format.h>
#include <hwy/targets.h>
#include <unistd.h>

#include <fstream>

#include "base/threads.h"
#include "cli/fact_page.h"

namespace dragoman {
namespace {

constexpr auto no_gpu = "none: this build has no GPU backend";

std::string_view instruction_set(dnnl_cpu_isa_t isa) {
  switch (int(isa)) {
    case dnnl_cpu_isa_sse41:
      return "SSE4.1";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx512_core:
      return "AVX-512";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "AVX-512 bf16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "AVX-512 AMX";
    case dnnl_cpu_isa_avx2_vnni:
      return "AVX2 VNNI";
    default:
      return "plain x86-64";
  }
}

// Highway calls AVX-512 "AVX3". The best target comes first.
std::string highway_target() {
  const int64_t target = hwy::SupportedAndGeneratedTargets().front();
  switch (target) {
    case HWY_AVX3:
      return "AVX-512";
    case HWY_AVX3_DL:
      return "AVX-512 VNNI";
    default:
      return hwy::TargetName(target);
  }
}

// What follows "key<blanks>: " in one of the kernel's text files; empty if nothing does.
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

int64_t available_memory() {
  const std::string kib = field_of("/proc/meminfo", "MemAvailable");
  return kib.empty() ? 0 : int64_t{1024} * std::stoll(kib);
}

}  // namespace

std::string describe_onednn() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{} on {}", version->major, version->minor, version->patch,
                     instruction_set(dnnl_get_effective_cpu_isa()));
}

Devices find_devices() {
  const std::string name = field_of("/proc/cpuinfo", "model name");
  return {.cpu = name.empty() ? "unknown" : name,
          .cores = int(sysconf(_SC_NPROCESSORS_ONLN)),
          .threads = thread_count(),
          .memory = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE),
          .available = available_memory(),
          .onednn = describe_onednn(),
          .kernels = highway_target()};
}

std::string devices_page(const Devices& d) {
  FactPage page("Hardware that dragoman can use here");
  page.heading("CPU");
  page.fact("name", d.cpu);
  page.fact("cores", fmt::to_string(d.cores));
  page.fact("threads", fmt::to_string(d.threads));
  page.fact("memory", size_in_words(d.memory));
  if (d.available > 0) page.fact("available", size_in_words(d.available));
  page.fact("oneDNN", d.onednn);
  page.fact("own kernels", d.kernels);
  page.heading("GPU");
  page.fact("devices", no_gpu);
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
          {"gpus", nlohmann::ordered_json::array()}};
}

}  // namespace dragoman
