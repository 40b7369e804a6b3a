#pragma once
#include "serve/options.h"

namespace dragoman {

struct ServeCommandOptions : ServeOptions {
  std::vector<std::string> devices = {"cpu"};  // exactly one: "cpu" or "cuda:0"
  bool fast_math = false;                      // on a GPU: compute float32 products in TF32
  int cpu_threads = 0;                         // 0: one per core
  bool quiet = false;
};

}  // namespace dragoman
