#pragma once
#include <string_view>
#include <vector>

namespace dragoman {

/// What stands between the blanks of a line; several blanks count as one.
std::vector<std::string_view> split_at_blanks(std::string_view line);

}  // namespace dragoman
