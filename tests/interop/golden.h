#pragma once
#include <string>

#include "tests/source_dir.h"

namespace dragoman {

/// The path of a file or folder of tests/interop/golden.
inline std::string golden(const std::string& name) { return source_dir() + "/tests/interop/golden/" + name; }

}  // namespace dragoman
