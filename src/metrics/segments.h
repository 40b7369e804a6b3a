#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/threads.h"

namespace dragoman {

/// Input of all corpus metrics: the lines of one file, UTF-8. References are one such set, or several if lines have
/// several good translations: `bleu(hypotheses, {references}, …)`.
using Segments = std::span<const std::string>;

/// Whether case matters. `lower`: metrics::lower is applied to both sides first.
enum class Case { mixed, lower };

/// Throws Error unless there is a reference set and each has as many lines as the hypotheses.
void require_parallel(Segments hypotheses, const std::vector<Segments>& references);

/// This line of each reference set.
std::vector<std::string_view> references_of(const std::vector<Segments>& references, size_t line);

/// stats_of(line) for every line, computed on all threads.
template <class Stats, class F>
std::vector<Stats> stats_of_lines(size_t lines, F stats_of) {
  std::vector<Stats> stats(lines);
  parallel_items(int64_t(lines), [&](int64_t line, int) { stats[size_t(line)] = stats_of(size_t(line)); });
  return stats;
}

/// Sums in line order, so that scores do not depend on the number of threads.
template <class Stats>
Stats sum_of(const std::vector<Stats>& lines) {
  Stats sum;
  for (const Stats& line : lines) sum += line;
  return sum;
}

}  // namespace dragoman
