#pragma once
#include "cli/search_words.h"
#include "options/machine_options.h"
#include "serve/options.h"

namespace dragoman {

struct ServeCommandOptions : ServeOptions, SearchWords, DeviceOptions {};  // exactly one device

}  // namespace dragoman
