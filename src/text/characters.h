#pragma once
#include <cstdint>
#include <string_view>

#include "base/byte_range.h"

namespace dragoman {

/// The code point that begins at `at`, or whose last byte is before it. `at` moves to its other end; there must be one.
/// -1: the text is ill-formed there; `at` moves over some bytes, at least one.
int32_t character_at(std::string_view text, size_t& at);
int32_t character_before(std::string_view text, size_t& at);

/// Code points at the ends of UTF-8 text. -1: the text is empty or ill-formed there.
int32_t first_character(std::string_view text);
int32_t last_character(std::string_view text);

/// White space of Unicode, and the byte order mark, which is no text either.
bool is_blank(int32_t character);

/// The range without blanks at its ends. Where all is blank, an empty range at its begin.
ByteRange without_blanks(std::string_view text, ByteRange range);

/// Whether characters like this one stand side by side without a blank between sentences: Chinese and Japanese writing,
/// with its full stops and brackets.
bool is_east_asian(int32_t character);

}  // namespace dragoman
