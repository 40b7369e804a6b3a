#pragma once
#include "vocab/vocabulary.h"

namespace dragoman {

/// The pieces that a sentence ends with, rising: those whose text ends with one of `marks`, closing quotes and brackets
/// after it aside. Special and byte pieces are none.
std::vector<int32_t> sentence_ends(const Vocabulary& vocabulary, const std::vector<std::string>& marks);

}  // namespace dragoman
