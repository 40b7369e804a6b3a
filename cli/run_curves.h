#pragma once
#include <string>

#include "cli/plot_page.h"

namespace dragoman {

/// The curves of a log of train --log-json. Lines that are not events are skipped with a warning: a killed process may
/// leave an incomplete line. Error if there is nothing to draw.
RunCurves read_curves(const std::string& path);

}  // namespace dragoman
