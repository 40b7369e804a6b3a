#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "data/pairs.h"

namespace dragoman {

// The maximum size in bytes of a line, and of all lines of a window.
constexpr size_t longest_line_to_score = 1 << 20, window_bytes = 1 << 26;

/// Reads the pairs of a text, a window at a time. Memory holds one window and, of two files, 8 bytes per pair. A file
/// may be a pipe whose writer waits for the scores.
class PairReader {
 public:
  using Window = LinePairs;

  explicit PairReader(const TextPair& text);

  /// The next pairs: at least one and at most `max_pairs`; empty at the end of both files. Waits only for the first
  /// pair, then takes the available lines. Throws the Error of require_paired if one file ends before the other, that
  /// of split_columns, and an Error for a line of more than 1 MiB.
  LinePairs next(int64_t max_pairs);

  /// Whether `next` would return without waiting.
  bool ready();

 private:
  bool read_pair(LinePairs& pairs);
  bool read_columns(std::array<std::string, 2>& pair);
  bool read_sides(std::array<std::string, 2>& pair);
  void read_to_end(LineReader& reader, std::vector<int32_t>& lengths);

  std::vector<LineReader> sides_;                // one of a tsv file
  std::array<std::vector<int32_t>, 2> lengths_;  // bytes of each line so far, to find a missing line
};

}  // namespace dragoman
