#pragma once
#include "dragoman/quantize.h"
#include "metrics/tokenize.h"
#include "options/machine_options.h"

namespace dragoman {

struct QuantizeCommandOptions : QuantizeOptions, MachineOptions {};

}  // namespace dragoman
