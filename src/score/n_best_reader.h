#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "data/pairs.h"
#include "decode/n_best_list.h"
#include "score/pair_reader.h"

namespace dragoman {

/// Reads an n-best list and the text that it translates as pairs: each entry with its source line. Entries are in the
/// order of the text, as `translate --n-best` writes them; lines without entries are skipped. One source line and one
/// window are in memory.
class NBestReader {
 public:
  struct Window : LinePairs {
    std::vector<NBestEntry> entries;  // one per pair
  };

  explicit NBestReader(const std::array<std::string, 2>& paths);  // {source, list}

  /// The next pairs: at least one and at most `max_pairs`; none at the end of the list. Waits for the first pair only.
  /// Error for malformed entries, for entries out of order, and for a source line that does not exist.
  Window next(int64_t max_pairs);

  bool ready() {
    return source_.ready(longest_line_to_score) && list_.ready(longest_line_to_score);
  }  // next() would not wait

 private:
  void go_to_source(int64_t line);

  LineReader source_, list_;
  std::string line_;  // of the source
  int64_t at_ = -1;   // which one
};

}  // namespace dragoman
