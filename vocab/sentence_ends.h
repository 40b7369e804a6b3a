#pragma once
#include "vocab/vocabulary.h"

namespace dragoman {

/// The pieces that end a sentence, in ascending order: those whose text ends with one of `marks`, possibly followed by
/// closing quotes and brackets. Special and byte pieces are excluded.
std::vector<int32_t> sentence_ends(const Vocabulary& vocabulary, const std::vector<std::string>& marks);

/// Marks that have these ends: the shortest of the pieces with which all others end.
std::vector<std::string> sentence_marks(const Vocabulary& vocabulary, const std::vector<int32_t>& ends);

}  // namespace dragoman
