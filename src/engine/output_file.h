#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// Checks of the file that a command writes after long work, so that the command fails before it (see also
/// base/writable.h).

/// Error unless the model `file` that --output names can be created, or replaced: it is not stdout, and an existing
/// file is empty or a whole dragoman model.
void require_model_output(const std::string& file);

/// What an existing file is, as kind_of_file (base/file_kind.h) names it, or "of an unknown kind"; empty if there is
/// none, or if it is empty.
std::string kind_of_existing(const std::string& file);

/// Throws the Error that the existing `file` is a `kind` and not what `option` names, `expected`.
[[noreturn]] void refuse_to_replace(std::string_view option, const std::string& file, std::string_view kind,
                                    std::string_view expected);

}  // namespace dragoman
