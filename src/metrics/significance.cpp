#include "metrics/significance.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace dragoman {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

}  // namespace

Interval interval_of(std::vector<double> scores) {
  invariant(!scores.empty(), "interval_of: at least one score");
  std::sort(scores.begin(), scores.end());
  const size_t cut = scores.size() / 40;  // 2.5 % at either end
  return {mean_of(scores), (scores[scores.size() - 1 - cut] - scores[cut]) / 2};
}

double p_value(std::span<const double> by_chance, double found) {
  const auto beyond = std::count_if(by_chance.begin(), by_chance.end(), [&](double d) { return d > found; });
  return double(beyond + 1) / double(by_chance.size() + 1);
}

double bootstrap_p_value(std::span<const double> baseline, std::span<const double> system, double found) {
  invariant(!baseline.empty() && baseline.size() == system.size(),
            "bootstrap_p_value: as many scores of either system");
  std::vector<double> differences;
  for (size_t i = 0; i < baseline.size(); ++i) differences.push_back(std::abs(system[i] - baseline[i]));
  const double mean = mean_of(differences);
  for (double& difference : differences) difference -= mean;
  return p_value(differences, std::abs(found));
}

}  // namespace dragoman
