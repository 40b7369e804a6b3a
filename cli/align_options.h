#pragma once
#include "align/options.h"

namespace dragoman {

struct AlignCommandOptions : AlignOptions {
  int cpu_threads = 0;  // 0: one per core
  bool quiet = false;
};

}  // namespace dragoman
