#pragma once
#include "model/batch.h"

namespace dragoman {

/// Lines of several sentences: which rows each sentence has, and which sentences each line.
struct SentencesOfLines {
  Spans rows;   // S sentences over N rows
  Spans lines;  // B lines over S sentences
};

/// A sentence ends after a piece of `ends` (rising) that no other of them follows: "?!" ends one sentence, not two. The
/// </s> of a line belongs to its last sentence, so every line has one.
SentencesOfLines sentences_of(const PackedIds& lines, std::span<const int> ends);

}  // namespace dragoman
