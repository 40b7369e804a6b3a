#pragma once
#include "dragoman/quantize.h"
#include "metrics/tokenize.h"

namespace dragoman {

struct QuantizeCommandOptions : QuantizeOptions {
  int cpu_threads = 0;  // 0: one per core
  bool quiet = false;
};

}  // namespace dragoman
