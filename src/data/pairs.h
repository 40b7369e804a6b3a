#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/parallel_text.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// Throws Error unless two files of corresponding lines have the same number of lines. The message names both files,
/// their numbers of lines, and the line from which on they match better when shifted. `paths` and `lengths` are
/// {source, target}; `lengths` holds the length of every line, in any unit.
void require_paired(const std::array<std::string, 2>& paths, const std::array<std::span<const int32_t>, 2>& lengths);

/// The lines of a corpus as text: for validation and scoring, not for training.
struct LinePairs {
  std::vector<std::string> source, target;
};

/// Reads all lines, or only the first `max_lines` (0: all). Throws Error as ParallelReader does.
LinePairs read_line_pairs(const TextPair& text, int64_t max_lines = 0);

/// The lines of a target as translations are printed, to compare both: without marks of pieces if the lines are
/// `given_pieces`, or tokens that the vocabulary joins.
std::vector<std::string> as_translations_are(const Vocabulary& target, std::vector<std::string> lines,
                                             bool given_pieces = false);

}  // namespace dragoman
