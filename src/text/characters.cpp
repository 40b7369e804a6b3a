#include "text/characters.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace dragoman {

int32_t character_before(std::string_view text, size_t& at) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const size_t first = at - std::min<size_t>(at, U8_MAX_LENGTH);  // the library counts in int32_t
  auto index = int32_t(at - first);
  UChar32 character = -1;
  U8_PREV(bytes + first, 0, index, character);
  at = first + size_t(index);
  return character;
}

int32_t character_at(std::string_view text, size_t& at) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  UChar32 character = -1;
  U8_NEXT(bytes, at, text.size(), character);
  return character;
}

int32_t first_character(std::string_view text) {
  size_t at = 0;
  return text.empty() ? -1 : character_at(text, at);
}

int32_t last_character(std::string_view text) {
  size_t at = text.size();
  return text.empty() ? -1 : character_before(text, at);
}

bool is_blank(int32_t character) {
  constexpr int32_t byte_order_mark = 0xFEFF;
  return character >= 0 && (u_isUWhiteSpace(character) || character == byte_order_mark);
}

ByteRange without_blanks(std::string_view text, ByteRange range) {
  const std::string_view inside = text.substr(0, range.end);
  ByteRange rest = range;
  while (rest.begin < rest.end) {
    size_t next = rest.begin;
    if (!is_blank(character_at(inside, next))) break;
    rest.begin = next;
  }
  if (rest.begin >= rest.end) return {range.begin, range.begin};
  while (true) {
    size_t before = rest.end;
    if (!is_blank(character_before(inside, before)) || before < rest.begin) return rest;
    rest.end = before;
  }
}

bool is_east_asian(int32_t character) {
  if (character < 0) return false;
  const int width = u_getIntPropertyValue(character, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH || width == U_EA_HALFWIDTH;
}

}  // namespace dragoman
