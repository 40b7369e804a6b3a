#pragma once
#include "dragoman/average.h"
#include "options/machine_options.h"

namespace dragoman {

struct AverageCommandOptions : AverageOptions, MachineOptions {};

}  // namespace dragoman
