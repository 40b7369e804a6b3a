#pragma once
#include <string>
#include <vector>

#include "decode/beam.h"
#include "explain/alignment.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// A line's translation, or that of a part of one.
struct Translation {
  std::string text;  // never holds a line break
  double log_prob = 0, score = 0;
  int length = 0;                      // pieces that were predicted, each </s> included
  std::vector<float> piece_log_probs;  // of these
  std::vector<double> by_model;        // log_prob under each model; empty: there is one
  Alignment alignment;                 // if it is asked for
};

/// Hypotheses as text.
std::vector<Translation> translations_of(const Vocabulary& target, std::vector<Hypothesis> hypotheses);

/// Puts translations of the next part of a line behind those of the parts before it, the best to the best and so on;
/// a list that is shorter repeats its last. What was joined is scored as one.
void append(std::vector<Translation>& line, std::vector<Translation> part, const SearchOptions& options);

}  // namespace dragoman
