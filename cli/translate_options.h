#pragma once
#include <string>
#include <vector>

#include "cli/search_words.h"
#include "decode/options.h"
#include "options/machine_options.h"

namespace dragoman {

struct TranslateCommandOptions : EnsembleOptions, SearchOptions, TranslateOptions, SearchWords, SharedWorkOptions {
  std::string input = "-";
  std::string output = "-";
  std::vector<std::string> output_sampling;  // {"topk", "10"}, becomes sampling and its parameter
};

}  // namespace dragoman
