#pragma once
#include <string>
#include <vector>

#include "decode/options.h"
#include "options/machine_options.h"

namespace dragoman {

struct TranslateCommandOptions : EnsembleOptions, SearchOptions, TranslateOptions, SharedWorkOptions {
  std::string input = "-";
  std::string output = "-";
  std::vector<std::string> length_penalty_words;  // {"gnmt", "0.6"}, becomes length_penalty
  std::vector<std::string> shortlist_words;       // {FILE, "100", "50", "0"}, becomes shortlist and its limits
  std::vector<std::string> output_sampling;       // {"topk", "10"}, becomes sampling and its parameter
};

}  // namespace dragoman
