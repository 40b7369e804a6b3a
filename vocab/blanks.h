#pragma once
#include <string_view>
#include <vector>

namespace dragoman {

/// The parts of a line between blanks; several blanks count as one.
std::vector<std::string_view> split_at_blanks(std::string_view line);

}  // namespace dragoman
