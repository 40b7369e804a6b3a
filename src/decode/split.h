#pragma once
#include <span>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

/// Splits pieces into segments of at most `longest`, to be translated separately. A segment ends at the last sentence
/// end in its second half, else at the last space there, else after `longest` pieces. If the line begins with tags
/// (leading_tags() in interop/languages.h), so does each segment, unless `longest` leaves no room.
std::vector<std::vector<int32_t>> split_long(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest);

/// The number of tags with which split_long() begins each segment after the first.
size_t repeated_tags(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest);

}  // namespace dragoman
