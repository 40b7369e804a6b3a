#pragma once
#include "model/batch.h"

namespace dragoman {

/// Lines of several sentences: the rows of each sentence, and the sentences of each line.
struct SentencesOfLines {
  Spans rows;   // S sentences over N rows
  Spans lines;  // B lines over S sentences
};

/// A sentence ends after the last of consecutive pieces of `ends` (rising): "?!" ends one sentence, not two. The </s>
/// of a line belongs to its last sentence, so every line has at least one sentence.
SentencesOfLines sentences_of(const PackedIds& lines, std::span<const int> ends);

}  // namespace dragoman
