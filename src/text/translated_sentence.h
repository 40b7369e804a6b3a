#pragma once
#include <string>
#include <vector>

#include "base/byte_range.h"

namespace dragoman {

/// An aligned pair of words or pieces: bytes of a sentence, and of its translation.
struct Link {
  ByteRange source, target;
  bool second_choice = false;  // for a source piece that no target piece is aligned with: the likeliest target piece
};

struct TranslatedSentence {
  std::string text;              // plain text, without markup and references
  std::vector<Link> links = {};  // may be empty; in any order
};

}  // namespace dragoman
