#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The name that `word` is most likely a typo of, or empty if none is close: the name starts or ends with the word, or
/// differs in at most a third of its letters (insertions, deletions, replacements, swapped neighbours).
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace dragoman
