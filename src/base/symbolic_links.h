#pragma once
#include <filesystem>

namespace dragoman {

/// What a chain of symbolic links leads to, in a folder without links; it need not exist yet.
std::filesystem::path without_links(std::filesystem::path path);

}  // namespace dragoman
