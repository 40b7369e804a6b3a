#pragma once
#include <filesystem>
#include <string>

namespace dragoman {

/// What a chain of symbolic links leads to, in a folder without links; it need not exist yet.
std::filesystem::path without_links(std::filesystem::path path);

/// The file that a writer of `path` replaces: what it leads to if it is a symbolic link, else `path` as it is.
std::string behind_link(const std::string& path);

}  // namespace dragoman
