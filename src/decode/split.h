#pragma once
#include <span>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

/// Cuts pieces into parts of at most `longest`, each to be translated alone. In the second half of a part it looks for
/// the last end of a sentence, else for the last blank; without either the cut is where the part is full.
std::vector<std::vector<int32_t>> split_long(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest);

}  // namespace dragoman
