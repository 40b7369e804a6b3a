#pragma once
#include <string>
#include <string_view>

#include "decode/piece_texts.h"
#include "text/words.h"

namespace dragoman {

/// Whether a text has a phrase as whole words, character for character, with one space for several blanks; by looking
/// at every character.
inline bool has_phrase(std::string_view text, std::string_view phrase) {
  const std::u32string in = characters_of(text), what = characters_of(phrase);
  for (size_t at = 0; at + what.size() <= in.size(); ++at)
    if (in.compare(at, what.size(), what) == 0 && is_boundary(in, at) && is_boundary(in, at + what.size())) return true;
  return false;
}

}  // namespace dragoman
