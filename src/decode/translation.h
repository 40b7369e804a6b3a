#pragma once
#include <span>
#include <string>
#include <vector>

#include "align/alignment.h"
#include "decode/beam.h"
#include "text/translated_sentence.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// The translation of a line or of a segment of one.
struct Translation {
  std::string text;  // contains no line breaks
  double log_prob = 0, score = 0;
  int length = 0;                      // predicted tokens, each </s> included
  std::vector<float> piece_log_probs;  // of these
  std::vector<double> by_model;        // log_prob under each model; empty for one model
  Alignment alignment;                 // if requested
  std::vector<Link> links;             // … by a request: bytes of its text and of this one that belong together
};

/// Hypotheses as text.
std::vector<Translation> translations_of(const Vocabulary& target, std::vector<Hypothesis> hypotheses);

/// Text of a translation's first tokens, which the text of the whole one begins with: an unfinished character is left
/// out.
std::string beginning_of(const Vocabulary& target, std::span<const int32_t> ids);

/// Appends the translations of a line's next segment to those of the segments before it, rank by rank; a shorter list
/// repeats its last entry. Joined translations are scored as one.
void append(std::vector<Translation>& line, std::vector<Translation> part, const SearchOptions& options);

}  // namespace dragoman
