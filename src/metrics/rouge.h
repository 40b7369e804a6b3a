#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/segments.h"

namespace dragoman {

/// ROUGE (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"), the mean over lines of
///   F = 2 · P · R / (P + R),  P = matches / of the hypothesis,  R = matches / of the reference
/// rouge_1, rouge_2: matches are words or pairs of words found in the reference, counts clipped (section 2).
/// rouge_l: the words of a longest common subsequence (section 3.1).
/// Scores equal those of Google's rouge-score 0.1.2, times 100. Words are the runs of a … z and 0 … 9 in the
/// lower-cased text, so it is for English. Of several references, the one with the best F counts for each line.
enum class Rouge { rouge_1, rouge_2, rouge_l };

/// porter: words of more than three letters are compared by their stems (porter_stem).
enum class Stemmer { none, porter };

struct RougeStats {
  double f = 0;  // 0 … 1, of all lines together
  int64_t lines = 0;

  RougeStats& operator+=(const RougeStats& other);
  bool operator==(const RougeStats&) const = default;
};

RougeStats rouge_stats(std::string_view hypothesis, std::span<const std::string_view> references, Rouge kind,
                       Stemmer stemmer = Stemmer::none);
double rouge(const RougeStats& stats);  // 0 … 100

/// One per line. Throws Error if the sides differ in length. For rouge_l, time is proportional to the words of the
/// hypothesis times those of the reference.
std::vector<RougeStats> rouge_of_lines(Segments hypotheses, const std::vector<Segments>& references, Rouge kind,
                                       Stemmer stemmer = Stemmer::none);

}  // namespace dragoman
