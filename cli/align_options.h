#pragma once
#include "align/options.h"
#include "options/machine_options.h"

namespace dragoman {

struct AlignCommandOptions : AlignOptions, MachineOptions {};

}  // namespace dragoman
