#pragma once
#include <string>

namespace dragoman {

/// `dragoman --version`: the release, its libraries, and the instruction sets they use on this machine.
std::string version_page();

}  // namespace dragoman
