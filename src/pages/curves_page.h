#pragma once
#include <string>
#include <vector>

#include "runlog/run_curves.h"

namespace dragoman {

/// A self-contained HTML page: a chart for each curve name, with a line for each run that has it.
std::string curves_page(const std::vector<RunCurves>& runs);

}  // namespace dragoman
