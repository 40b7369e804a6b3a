#pragma once
#include <string>
#include <vector>

#include "cli/options.h"

namespace dragoman {

struct Command;

/// What a shell reads to complete the names of commands and options, values that are few, and files.
std::string completion_script(Shell shell, const std::vector<Command>& commands);

}  // namespace dragoman
