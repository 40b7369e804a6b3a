#pragma once
#include "engine/model_format.h"
#include "options/machine_options.h"

namespace dragoman {

struct ConvertCommandOptions : ConvertOptions, MachineOptions {
  std::string verify;  // text to compare with the other program on; empty: none
};

}  // namespace dragoman
