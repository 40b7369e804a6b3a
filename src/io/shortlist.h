#pragma once
#include <span>
#include <string>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

/// Which pieces a translation may hold, given its source: the frequent ones, and for each source piece those that it is
/// mostly translated by. docs/shortlist.md describes the file.
struct Shortlist {
  std::vector<int32_t> first;   // frequent target pieces, and </s>; rising
  std::vector<int32_t> begins;  // (source vocabulary + 1): where the pieces of each source piece begin in …
  std::vector<int32_t> best;    // … this list
  int32_t target_vocabulary = 0;

  /// Those for a sentence, and `more`, each once, in rising order.
  std::vector<int32_t> candidates(std::span<const int32_t> source, std::span<const int32_t> more = {}) const;
};

/// Writes the file whole or not at all.
void save_shortlist(const std::string& path, const Shortlist& shortlist, const Vocabulary& source,
                    const Vocabulary& target);

/// Error when the file is damaged, no shortlist, empty, or made for other vocabularies than these.
Shortlist load_shortlist(const std::string& path, const Vocabulary& source, const Vocabulary& target);

}  // namespace dragoman
