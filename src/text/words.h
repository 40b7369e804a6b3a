#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dragoman {

/// What of a character decides where words begin and end.
struct WordRole {
  bool in_word = false;         // a letter, digit or mark
  bool mark = false;            // which belongs to the character before
  bool without_spaces = false;  // of a writing that puts no spaces between words, such as Chinese, Japanese or Thai
};

/// -1: ill-formed text.
WordRole word_role(int32_t character);

/// Whether a word may end after one character and another begin with the next one.
bool is_boundary(const WordRole& before, const WordRole& after);
/// The same at a byte that is between two characters, or at an end of the text, where a word may begin or end.
bool is_boundary(std::string_view text, size_t at);
/// The same before a character.
bool is_boundary(std::u32string_view characters, size_t at);

}  // namespace dragoman
