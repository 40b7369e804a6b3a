#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// 0 to 9.
constexpr bool is_digit(char32_t character) { return character >= '0' && character <= '9'; }

/// A to Z in lower case; all other bytes stay as they are.
char lower_ascii(char letter);
std::string lower_ascii(std::string_view text);

/// The text without these characters at its ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " ");

/// The parts of a text between blanks; several blanks count as one. They point into `text`.
std::vector<std::string_view> split_at_blanks(std::string_view text, std::string_view blanks = " ");

/// The parts of a text between separators, at least one; they may be empty. They point into `text`.
std::vector<std::string_view> split_at(std::string_view text, std::string_view separator);

/// Whether the word is one of those that blanks separate.
bool has_word(std::string_view words, std::string_view word, std::string_view blanks = " ");

}  // namespace dragoman
