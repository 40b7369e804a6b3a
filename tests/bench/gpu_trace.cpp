// Writes when each kernel, copy and fill of a CUDA program began and ended on the GPU, also in graphs. CUDA's driver
// loads this library into a program that runs with CUDA_INJECTION64_PATH set to it; GPU_TRACE names the file. A line
// has the begin and the end in ns, 1 for a part of a graph or else 0, and a name, separated by tabs.
#include <cupti.h>
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

std::FILE* file = nullptr;

void write(const auto& record, const char* name) {
  std::fprintf(file, "%llu\t%llu\t%d\t%s\n", static_cast<unsigned long long>(record.start),
               static_cast<unsigned long long>(record.end), record.graphNodeId != 0 ? 1 : 0, name);
}

void give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *size = size_t{8} << 20;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
  *most_records = 0;  // as many as fit
}

void take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      char* const readable = abi::__cxa_demangle(kernel.name, nullptr, nullptr, nullptr);
      write(kernel, readable ? readable : kernel.name);
      std::free(readable);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      write(*reinterpret_cast<const CUpti_ActivityMemcpy6*>(record), "copy");
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      write(*reinterpret_cast<const CUpti_ActivityMemset4*>(record), "fill");
    }
  }
  std::fflush(file);
  std::free(buffer);
}

}  // namespace

/// Called by the driver.
extern "C" int InitializeInjection() {
  const char* const path = std::getenv("GPU_TRACE");
  file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return 0;
  cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
    cuptiActivityEnable(kind);
  std::atexit([] { cuptiActivityFlushAll(1); });
  return 1;
}
