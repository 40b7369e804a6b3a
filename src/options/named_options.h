#pragma once
#include "dragoman/named_option.h"
#include "options/parse.h"

namespace dragoman {

/// What a program gives for `options`. Problems are names that do not exist or appear twice.
Assignments read_named_options(const NamedOptions& given, const std::vector<Option>& options, Findings& findings);

}  // namespace dragoman
