#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// Checks of the file that a command writes after long work, so that the command fails before it.

/// Error unless `file`, which is written completely or not at all, can be created or replaced: its folder must exist
/// and be writable, and nothing but a regular file may have its name. `option` is the option that names it.
void require_replaceable(std::string_view option, const std::string& file);

/// What an existing file is, as kind_of_file (base/file_kind.h) names it, or "of an unknown kind"; empty if there is
/// none, or if it is empty.
std::string kind_of_existing(const std::string& file);

/// Throws the Error that the existing `file` is a `kind` and not what `option` names, `expected`.
[[noreturn]] void refuse_to_replace(std::string_view option, const std::string& file, std::string_view kind,
                                    std::string_view expected);

}  // namespace dragoman
