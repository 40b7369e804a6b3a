#pragma once
#include <string>
#include <vector>

#include "score/options.h"

namespace dragoman {

struct ScoreCommandOptions : ScoreFileOptions {
  std::string model;
  std::string output = "-";
  std::vector<std::string> devices = {"cpu"};  // "cpu", or "cuda:0" and others
  bool fast_math = false;                      // on a GPU: products of float32 in TF32
  int cpu_threads = 0;                         // 0: one per core
  int processes = 1;
  double comm_timeout = 60;  // seconds of silence after which a rank counts as lost; 0: never
  bool profile = false;
  bool quiet = false;
};

}  // namespace dragoman
