#pragma once
#include <span>
#include <string>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

/// The pieces that a translation may contain, given its source: the frequent ones, and the most probable translations
/// of each source piece. docs/shortlist.md describes the file.
struct Shortlist {
  std::vector<int32_t> first;   // frequent target pieces, and </s>; rising
  std::vector<int32_t> begins;  // (source vocabulary + 1): where the pieces of each source piece begin in …
  std::vector<int32_t> best;    // … this list
  int32_t target_vocabulary = 0;

  /// The pieces for a sentence and `more`, without duplicates, in ascending order.
  std::vector<int32_t> candidates(std::span<const int32_t> source, std::span<const int32_t> more = {}) const;
  std::string checksum() const;
};

/// Limits for reading a table of translations (a text file). The defaults are Marian's.
struct ShortlistLimits {
  int first = 100;      // target pieces with the lowest ids: the most frequent ones in Marian's vocabularies
  int best = 100;       // the most probable translations of each source piece …
  float threshold = 0;  // … with probabilities above this
};

/// Writes the file whole or not at all.
void save_shortlist(const std::string& path, const Shortlist& shortlist, const Vocabulary& source,
                    const Vocabulary& target);

/// Whether a file is a dragoman shortlist, sound or not. Error for a broken safetensors file.
bool is_shortlist(const std::string& path);

/// Error if the file is damaged, not a shortlist, empty, or made for other vocabularies.
Shortlist load_shortlist(const std::string& path, const Vocabulary& source, const Vocabulary& target);

}  // namespace dragoman
