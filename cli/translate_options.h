#pragma once
#include <string>
#include <vector>

#include "decode/options.h"

namespace dragoman {

struct TranslateCommandOptions : EnsembleOptions, SearchOptions, TranslateOptions {
  std::string input = "-";
  std::string output = "-";
  std::vector<std::string> devices = {"cpu"};  // "cpu", or "cuda:0" and others
  bool fast_math = false;                      // on a GPU: compute float32 products in TF32
  int cpu_threads = 0;                         // 0: one per core
  int processes = 1;
  double comm_timeout = 60;  // seconds of silence after which a rank counts as lost; 0: never
  bool profile = false;
  bool quiet = false;
  std::vector<std::string> length_penalty_words;  // {"gnmt", "0.6"}, becomes length_penalty
  std::vector<std::string> shortlist_words;       // {FILE, "100", "50", "0"}, becomes shortlist and its limits
  std::vector<std::string> output_sampling;       // {"topk", "10"}, becomes sampling and its parameter
};

}  // namespace dragoman
