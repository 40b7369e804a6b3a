#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/ngrams.h"
#include "metrics/segments.h"

namespace dragoman {

/// Corpus chrF2 (Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation"):
///   chrF = 100 · (1 + β²) · P · R / (β² P + R),  β = 2
/// P, R: precision and recall of character n-grams without white space, each the mean over n = 1 … 6. Word n-grams up
/// to `word_order` are included in the mean: 2 is chrF++ (Popović 2017). Orders for which either side has no n-gram are
/// skipped. Scores equal those of sacreBLEU's defaults. Of several references, the best-scoring one counts for each
/// line.

constexpr int chrf_character_order = 6, chrf_longest_word_order = 2;

/// Sufficient statistics of a line: n-grams of characters, then of words. chrF of any set of lines is computed from
/// their sum.
struct ChrfStats {
  struct Order {
    int64_t hypothesis = 0, reference = 0, matches = 0;
    bool operator==(const Order&) const = default;
  };
  std::array<Order, chrf_character_order + chrf_longest_word_order> orders{};

  ChrfStats& operator+=(const ChrfStats& other);
  bool operator==(const ChrfStats&) const = default;
};

ChrfStats chrf_stats(std::string_view hypothesis, std::span<const std::string_view> references,
                     Case letters = Case::mixed, int word_order = 0);
double chrf(const ChrfStats& stats);  // 0 … 100

/// The chrF of each of several translations of one line with each as the reference. Their n-grams are counted once.
class ChrfOfPairs {
 public:
  explicit ChrfOfPairs(Segments texts, Case letters = Case::mixed, int word_order = 0);
  /// For each text as the reference: chrf(chrf_stats(text number `hypothesis`, {it}, …)).
  std::vector<double> scores(size_t hypothesis) const;

 private:
  struct Units {                      // characters or words
    std::vector<NgramCounts> counts;  // of all n-grams of each text
    NgramIndex index;
    int order;
  };
  std::vector<Units> units_;
};

/// One per line. Throws Error if the sides differ in length. About 20 µs for a line of 130 characters.
std::vector<ChrfStats> chrf_of_lines(Segments hypotheses, const std::vector<Segments>& references,
                                     Case letters = Case::mixed, int word_order = 0);

/// The chrF of a corpus, 0 … 100, from the sum over its lines.
double chrf(Segments hypotheses, const std::vector<Segments>& references, Case letters = Case::mixed,
            int word_order = 0);

}  // namespace dragoman
