#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The name that `word` is most likely a slip of, or empty when none is near: it begins or ends with the word, or is at
/// most a third of its letters away (insertions, deletions, replacements, swapped neighbours).
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace dragoman
