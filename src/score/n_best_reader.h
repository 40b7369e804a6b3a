#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "data/pairs.h"
#include "decode/n_best_list.h"
#include "score/pair_reader.h"

namespace dragoman {

/// Reads an n-best list and its source text as pairs of a source line and an entry. Entries are in the order of the
/// text, as `translate --n-best` writes them; lines without entries are skipped. Memory holds one source line and one
/// window.
class NBestReader {
 public:
  struct Window : LinePairs {
    std::vector<NBestEntry> entries;  // one per pair
  };

  explicit NBestReader(const std::array<std::string, 2>& paths);  // {source, list}

  /// The next pairs: at least one and at most `max_pairs`; empty at the end of the list. Waits only for the first pair.
  /// Error for malformed entries, for entries out of order, and for a source line that does not exist.
  Window next(int64_t max_pairs);

  bool ready() {
    return source_.ready(longest_line_to_score) && list_.ready(longest_line_to_score);
  }  // next() would return without waiting

 private:
  void go_to_source(int64_t line);

  LineReader source_, list_;
  std::string line_;  // the current source line
  int64_t at_ = -1;   // its number
};

}  // namespace dragoman
