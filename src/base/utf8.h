#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// Whether the text is well-formed UTF-8 (Unicode 15, table 3-7: no surrogates, no overlong forms, up to U+10FFFF).
bool is_valid_utf8(std::string_view text);

/// Replaces each ill-formed sequence by U+FFFD, one for each maximal subpart (Unicode 15, section 3.9; as browsers and
/// Python's errors="replace" do). Returns whether anything was replaced; valid text is not modified.
bool clean_utf8(std::string& text);

/// A text for a message: the first 100 bytes or fewer, and "…" if there are more. No character is cut in two.
std::string beginning_of(std::string_view text);

}  // namespace dragoman
