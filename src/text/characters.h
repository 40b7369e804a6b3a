#pragma once
#include <cstdint>
#include <string_view>

#include "base/byte_range.h"

namespace dragoman {

/// The code point that begins (character_at) or ends (character_before) at `at`, which must exist. `at` moves to its
/// other end. -1: the text is ill-formed there; `at` then moves by at least one byte.
int32_t character_at(std::string_view text, size_t& at);
int32_t character_before(std::string_view text, size_t& at);

/// Code points at the ends of UTF-8 text. -1: the text is empty or ill-formed there.
int32_t first_character(std::string_view text);
int32_t last_character(std::string_view text);

/// Unicode's white space and the byte order mark.
bool is_blank(int32_t character);

/// The range without blanks at its ends. If all of it is blank, an empty range at its beginning.
ByteRange without_blanks(std::string_view text, ByteRange range);
inline std::string_view without_blanks(std::string_view text) {
  const ByteRange range = without_blanks(text, {0, text.size()});
  return text.substr(range.begin, range.size());
}

/// Whether sentences that end or begin with such characters follow each other without a blank: Chinese and Japanese
/// writing, with its full stops and brackets.
bool is_east_asian(int32_t character);

}  // namespace dragoman
