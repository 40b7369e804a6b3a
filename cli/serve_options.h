#pragma once
#include "options/machine_options.h"
#include "serve/options.h"

namespace dragoman {

struct ServeCommandOptions : ServeOptions, DeviceOptions {};  // exactly one device

}  // namespace dragoman
