#pragma once
#include <string>

#include "options/machine_options.h"
#include "score/options.h"

namespace dragoman {

struct ScoreCommandOptions : ScoreFileOptions, SharedWorkOptions {
  std::string model;
  std::string output = "-";
};

}  // namespace dragoman
