#pragma once
#include <span>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

/// Splits pieces into segments of at most `longest`, to be translated separately. A segment ends at the last sentence
/// end in its second half, else at the last space there, else after `longest` pieces. If the first piece names the
/// language to translate into (`>>fra<<`), each segment begins with it, unless `longest` is 1.
std::vector<std::vector<int32_t>> split_long(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest);

}  // namespace dragoman
