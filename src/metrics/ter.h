#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "metrics/segments.h"

namespace dragoman {

/// Translation edit rate (Snover et al. 2006, "A Study of Translation Edit Rate with Targeted Human Annotation"):
///   TER = 100 · edits / words of the reference
/// Edits make the reference of the hypothesis: words inserted, deleted, replaced, and runs of words moved, each move
/// one edit. The fewest are not computable; moves are chosen greedily, each the one that saves the most others. Which
/// ones are tried, and the band of the edit distance, are tercom's as sacreBLEU has them, and so are the figures.
/// Smaller is better; above 100 is possible. Of several references a line takes the nearest, and their mean length.

struct TerStats {
  double edits = 0;
  double reference_words = 0;  // mean of the references

  TerStats& operator+=(const TerStats& other);
};

/// Words are what stands between white space. tercom, and so sacreBLEU, ignores capitals unless told otherwise.
TerStats ter_stats(std::string_view hypothesis, std::span<const std::string_view> references,
                   Case letters = Case::lower);
double ter(const TerStats& stats);

/// One for each line. About 0.1 ms a line of 20 words on one core; at most 1,000 moves are tried a line.
std::vector<TerStats> ter_of_lines(Segments hypotheses, const std::vector<Segments>& references,
                                   Case letters = Case::lower);

}  // namespace dragoman
