#pragma once
#include <string>
#include <vector>

#include "data/options.h"
#include "options/machine_options.h"

namespace dragoman {

struct DataCommandOptions : SurveyOptions, MachineOptions {
  std::vector<std::string> train_sets;  // as DataOptions::train_sets
  bool tsv = false;
  std::vector<std::string> vocabs;  // {source, target}; empty: counts words only
  bool json = false;
};

}  // namespace dragoman
