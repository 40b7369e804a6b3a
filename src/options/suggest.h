#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// A hint for an Error: "did you mean --beam-size?", or empty. `prefix` is put before the name.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view prefix = "");

}  // namespace dragoman
