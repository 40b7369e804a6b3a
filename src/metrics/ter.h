#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "metrics/segments.h"

namespace dragoman {

/// Translation edit rate (Snover et al. 2006, "A Study of Translation Edit Rate with Targeted Human Annotation"):
///   TER = 100 · edits / words of the reference
/// Edits turn the hypothesis into the reference: insertions, deletions and replacements of words, and moves of runs of
/// words, each one edit. The minimum is intractable; moves are chosen greedily, each time the one that saves most
/// edits. The moves tried and the band of the edit distance are those of tercom as in sacreBLEU, so scores agree.
/// Smaller is better; above 100 is possible. Of several references, a line uses the nearest and their mean length.

struct TerStats {
  double edits = 0;
  double reference_words = 0;  // mean of the references

  TerStats& operator+=(const TerStats& other);
  bool operator==(const TerStats&) const = default;
};

/// Words are separated by white space. tercom, and so sacreBLEU, ignores case by default.
TerStats ter_stats(std::string_view hypothesis, std::span<const std::string_view> references,
                   Case letters = Case::lower);
double ter(const TerStats& stats);

/// One per line. About 0.1 ms for a line of 20 words on one core; at most 1,000 moves are tried per line.
std::vector<TerStats> ter_of_lines(Segments hypotheses, const std::vector<Segments>& references,
                                   Case letters = Case::lower);

}  // namespace dragoman
