#pragma once
#include <string>

namespace dragoman {

/// Where the project lies. Only source_dir.cpp is compiled with that path, so that a compiler cache serves all tests in
/// any folder.
std::string source_dir();

}  // namespace dragoman
