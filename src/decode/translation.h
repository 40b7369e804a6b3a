#pragma once
#include <span>
#include <string>
#include <vector>

#include "align/alignment.h"
#include "decode/beam.h"
#include "text/translated_sentence.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// The translation of a line, or of a segment of a line.
struct Translation {
  std::string text;  // contains no line breaks
  double log_prob = 0, score = 0;
  int length = 0;                      // predicted tokens, </s> of each segment included
  std::vector<float> piece_log_probs;  // of the predicted tokens
  std::vector<double> by_model;        // log_prob under each model; empty for one model
  LineAlignment alignment;             // if requested
  std::vector<Link> links;             // if requested: pairs of byte ranges of the source and of this text
  std::vector<int32_t> ids;            // of the predicted tokens
};

/// Converts hypotheses to text.
std::vector<Translation> translations_of(const Vocabulary& target, std::vector<Hypothesis> hypotheses);

/// The text of a translation's first tokens. The complete text begins with it: an incomplete character at the end is
/// left out.
std::string beginning_of(const Vocabulary& target, std::span<const int32_t> ids);

/// Appends the text of a line's next segment.
void join(std::string& text, const std::string& next);

/// Appends the n-best translations of a line's next segment to those of the segments before it, rank by rank; a shorter
/// list repeats its last entry. Scores are added, so the joined list has the same order: the best translation of each
/// segment comes first.
void append(std::vector<Translation>& line, std::vector<Translation> part);

}  // namespace dragoman
