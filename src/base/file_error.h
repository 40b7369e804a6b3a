#pragma once
#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"

namespace dragoman {

/// The file system's own exceptions, such as for a folder that may not be entered, as what the user can mend.
inline Error error_of(const std::filesystem::filesystem_error& error) {
  return Error(fmt::format("{}: cannot be opened: {}", error.path1().string(), error.code().message()),
               "ls -ld shows its permissions and those of its folders; a name has 255 bytes at most");
}

}  // namespace dragoman
