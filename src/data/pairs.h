#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/parallel_text.h"

namespace dragoman {

/// Two files whose line i are translations of each other have equally many lines. Throws Error otherwise: it names
/// both files and counts and the line from which on they fit better when shifted. `paths` and `lengths` are {source,
/// target}; `lengths` holds the length of every line, in any unit.
void require_paired(const std::array<std::string, 2>& paths, const std::array<std::span<const int32_t>, 2>& lengths);

/// The lines of a corpus as text: for sets that are validated or scored, not for training text.
struct LinePairs {
  std::vector<std::string> source, target;
};

/// Reads all lines, or only the first `max_lines` (0: all). Throws Error as ParallelReader does.
LinePairs read_line_pairs(const TextPair& text, int64_t max_lines = 0);

}  // namespace dragoman
