#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/random.h"
#include "metrics/segments.h"

namespace dragoman {

/// How sure a figure is, and a difference between two: by computing it again over lines drawn at random. Draws,
/// intervals and p-values are those of sacreBLEU for the same seed. It sums in float32 where we sum exactly: a p-value
/// may differ by one count where a resample lies within a millionth of the limit, a mean in the sixth digit.
/// A metric takes part with a vector of its stats, one a line, and a function that makes the figure of their sum.

struct Resampling {
  int samples = 1000;
  uint64_t seed = 12345;  // sacreBLEU's
};

/// Where 95 % of the resampled figures lie: mean ± half_width.
struct Interval {
  double mean = 0, half_width = 0;
};
Interval interval_of(std::vector<double> scores);

/// The figure of `samples` corpora, each of as many lines as there are, drawn with replacement (Koehn 2004,
/// "Statistical Significance Tests for Machine Translation Evaluation"). Corpora of equal length are drawn equally:
/// what makes the test below a paired one. Costs samples · lines additions.
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

/// The share of `by_chance`, the differences that chance makes, that are beyond the one found; itself counted among
/// them, so never 0 (Riezler and Maxwell 2005).
double p_value(std::span<const double> by_chance, double found);

/// Paired bootstrap: how likely a difference of `found` is if the systems are as good as each other. Both series are
/// of bootstrap_scores. Sample differences are moved to have mean 0, as chance would have them.
double bootstrap_p_value(std::span<const double> baseline, std::span<const double> system, double found);

/// Paired approximate randomisation (Riezler and Maxwell 2005, "On Some Pitfalls in Automatic Evaluation and
/// Significance Testing for MT"): chance deals each line's two translations out to two systems.
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
