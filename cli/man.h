#pragma once
#include <string>
#include <vector>

namespace dragoman {

struct Command;

/// dragoman(1) in the macros of man(7), generated from the same tables as --help.
std::string man_page(const std::vector<Command>& commands);

}  // namespace dragoman
