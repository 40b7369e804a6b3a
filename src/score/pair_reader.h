#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "data/pairs.h"

namespace dragoman {

// The maximum size in bytes of a line, and of all lines of a window.
constexpr size_t longest_line_to_score = 1 << 20, window_bytes = 1 << 26;

/// Reads two text files of corresponding lines, a window at a time. Memory holds one window and
/// 8 bytes per pair. One side may be a pipe whose writer waits for the scores.
class PairReader {
 public:
  using Window = LinePairs;

  explicit PairReader(const std::array<std::string, 2>& paths);  // {source, target}

  /// The next pairs: at least one and at most `max_pairs`; empty at the end of both files. Waits only for the first
  /// pair, then takes the available lines. Throws the Error of require_paired if one file ends before the other, and an
  /// Error for a line of more than 1 MiB.
  LinePairs next(int64_t max_pairs);

  /// Whether `next` would return without waiting.
  bool ready() { return source_.ready(longest_line_to_score) && target_.ready(longest_line_to_score); }

 private:
  bool read_pair(LinePairs& pairs);
  void read_to_end(LineReader& reader, std::vector<int32_t>& lengths);

  LineReader source_, target_;
  std::array<std::vector<int32_t>, 2> lengths_;  // bytes of each line so far, to find a missing line
};

}  // namespace dragoman
