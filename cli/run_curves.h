#pragma once
#include <string>

#include "cli/plot_page.h"

namespace dragoman {

/// The curves of a log of train --log-json. Lines that are no events are left out with a warning: a process that was
/// killed may leave half a line. Error when nothing is left to draw.
RunCurves read_curves(const std::string& path);

}  // namespace dragoman
