#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The name that `word` is most likely a slip of, or empty when none is near: it begins or ends with the word, or is at
/// most a third of its letters away (insertions, deletions, replacements, swapped neighbours).
std::string nearest(std::string_view word, const std::vector<std::string>& names);

/// A hint for an Error: "did you mean --beam-size?", or empty. `prefix` goes before the name.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view prefix = "");

/// The same for an option, or what to do instead of it where it is one of Marian's that dragoman does not need.
std::string advice_on(std::string_view option, const std::vector<std::string>& names, std::string_view prefix);

}  // namespace dragoman
