#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "dragoman/evaluate.h"
#include "metrics/random.h"
#include "metrics/segments.h"

namespace dragoman {

/// Confidence of a score, and of the difference between two, by resampling lines. Draws, intervals and p-values are
/// those of sacreBLEU for the same seed. sacreBLEU sums in float32, this code exactly: a p-value may differ by one
/// count if a resample lies within a millionth of the limit, a mean in the sixth digit. A metric supplies a vector of
/// its stats, one per line, and a function that computes the score of their sum.

struct Resampling {
  int samples = 1000;
  uint64_t seed = 12345;  // sacreBLEU's
};

Interval interval_of(std::vector<double> scores);

/// The scores of `samples` corpora of the original size, drawn with replacement (Koehn 2004, "Statistical Significance
/// Tests for Machine Translation Evaluation"). Corpora of equal length get the same draws, which makes the test below
/// paired. Costs samples · lines additions.
template <class Stats, class Score>
std::vector<double> bootstrap_scores(const std::vector<Stats>& lines, Score score, Resampling how) {
  NumpyRandom random(how.seed);
  std::vector<double> scores;
  for (int sample = 0; sample < how.samples; ++sample) {
    Stats sum;
    for (size_t line = 0; line < lines.size(); ++line) sum += lines[random.below(uint32_t(lines.size()))];
    scores.push_back(score(sum));
  }
  return scores;
}

/// The fraction of `by_chance`, the differences produced by chance, that exceed the observed difference. The observed
/// one is counted among them, so the result is never 0 (Riezler and Maxwell 2005).
double p_value(std::span<const double> by_chance, double found);

/// Paired bootstrap: the probability of a difference of `found` if the systems are equally good. Both series come from
/// bootstrap_scores. Sample differences are shifted to mean 0, as under the null hypothesis.
double bootstrap_p_value(std::span<const double> baseline, std::span<const double> system, double found);

/// Paired approximate randomisation (Riezler and Maxwell 2005, "On Some Pitfalls in Automatic Evaluation and
/// Significance Testing for MT"): randomly assigns each line's two translations to the two systems.
template <class Stats, class Score>
double randomization_p_value(const std::vector<Stats>& baseline, const std::vector<Stats>& system, Score score,
                             Resampling how) {
  NumpyRandom random(how.seed);
  std::vector<double> by_chance;
  for (int trial = 0; trial < how.samples; ++trial) {
    Stats a, b;
    for (size_t line = 0; line < baseline.size(); ++line) {
      const bool keep = random.coin();
      a += keep ? baseline[line] : system[line];
      b += keep ? system[line] : baseline[line];
    }
    by_chance.push_back(std::abs(score(a) - score(b)));
  }
  return p_value(by_chance, std::abs(score(sum_of(baseline)) - score(sum_of(system))));
}

}  // namespace dragoman
