#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// The folder in which a writer of the file makes it: that of what it leads to, if it is a symbolic link.
std::string folder_of_written(const std::string& file);

/// Error unless the folder of the file exists and is writable; `option` is the option that names the file. For checks
/// before work whose result would be lost.
void require_writable(std::string_view option, const std::string& file);

/// Whether a writer that replaces files may make the file: nothing but a regular file has its name.
bool is_replaceable(const std::string& file);

/// Error unless `file`, which is written completely or not at all, can be created or replaced: require_writable(), and
/// is_replaceable().
void require_replaceable(std::string_view option, const std::string& file);

}  // namespace dragoman
