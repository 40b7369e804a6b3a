#pragma once
#include <string>
#include <vector>

#include "cli/completion_options.h"

namespace dragoman {

struct Command;

/// A shell script that completes commands, options, enumerated values and files.
std::string completion_script(Shell shell, const std::vector<Command>& commands);

}  // namespace dragoman
