#pragma once
#include <string>
#include <vector>

#include "vocab/model_facts.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// Counts of the pieces of a vocabulary.
struct VocabularySummary {
  ModelFacts facts;
  int byte_pieces = 0;
  std::vector<int32_t> learned;  // the pieces that are neither special nor protected nor bytes
  std::string longest;           // of these
  int longest_characters = 0;
};

VocabularySummary summary_of(const Vocabulary& vocabulary);

}  // namespace dragoman
