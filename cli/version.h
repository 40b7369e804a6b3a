#pragma once
#include <string>

namespace dragoman {

/// `dragoman --version`: the release, the libraries it runs with, the instruction sets they use here.
std::string version_page();

}  // namespace dragoman
