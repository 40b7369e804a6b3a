#pragma once
#include "dragoman/named_option.h"
#include "options/parse.h"

namespace dragoman {

/// The values that a program passes for `options`. Names that do not exist or appear twice are problems.
Assignments read_named_options(const NamedOptions& given, const std::vector<Option>& options, Findings& findings);

}  // namespace dragoman
