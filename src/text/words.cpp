#include "text/words.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include "text/characters.h"

namespace dragoman {
namespace {

bool has_no_spaces(int32_t c) {
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(c, &status)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_BOPOMOFO:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
    case USCRIPT_TIBETAN:
      return true;
    default:
      return false;
  }
}

}  // namespace

WordRole word_role(int32_t c) {
  if (c < 0) return {};
  const bool mark = (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
  return {.in_word = mark || u_isalnum(c), .mark = mark, .without_spaces = has_no_spaces(c)};
}

bool is_boundary(const WordRole& before, const WordRole& after) {
  if (after.mark) return false;
  return !before.in_word || !after.in_word || before.without_spaces || after.without_spaces;
}

bool is_boundary(std::string_view text, size_t at) {
  if (at == 0 || at == text.size()) return true;
  size_t before = at, after = at;
  const int32_t left = character_before(text, before), right = character_at(text, after);
  return is_boundary(word_role(left), word_role(right));
}

bool is_boundary(std::u32string_view characters, size_t at) {
  if (at == 0 || at == characters.size()) return true;
  return is_boundary(word_role(int32_t(characters[at - 1])), word_role(int32_t(characters[at])));
}

}  // namespace dragoman
