#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Whether the text is well-formed UTF-8 (Unicode 15, table 3-7: no surrogates, no overlong forms, up to U+10FFFF).
bool is_valid_utf8(std::string_view text);

/// Replaces each ill-formed sequence by U+FFFD, one for each maximal subpart (Unicode 15, section 3.9; as browsers and
/// Python's errors="replace" do). Returns whether anything was replaced; valid text is not modified.
bool clean_utf8(std::string& text);

/// Whether a byte of UTF-8 is not the first one of a character.
inline bool continues_character(char byte) { return (uint8_t(byte) & 0xC0) == 0x80; }

/// Bytes of the character that begins with this byte; 0: none does.
int character_bytes(char first);

/// Characters of well-formed text; of other text, the bytes that do not continue one.
int64_t count_characters(std::string_view text);

/// The number of characters before each byte of such text, and in all of it.
std::vector<int64_t> characters_before(std::string_view text);

/// Appends a code point, which must be one of Unicode's, other than a surrogate.
void append_utf8(std::string& text, char32_t character);

/// UTF-8 to code points. Ill-formed bytes become U+FFFD as in clean_utf8, so any bytes are text.
std::u32string code_points(std::string_view utf8);

/// Code points to UTF-8, the inverse of code_points().
std::string to_utf8(std::u32string_view text);

/// A text for a message: the first 100 bytes or fewer, and "…" if there are more. No character is cut in two.
std::string beginning_of(std::string_view text);

}  // namespace dragoman
