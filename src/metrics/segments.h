#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/threads.h"

namespace dragoman {

/// What every corpus metric takes: the lines of one file, UTF-8. References are one such set a file, or more where a
/// line has several good translations: `bleu(hypotheses, {references}, …)`.
using Segments = std::span<const std::string>;

/// Whether capitals count. `lower`: both sides go through text::lower first.
enum class Case { mixed, lower };

/// Throws Error unless there are references, each with as many lines as the hypotheses.
void require_parallel(Segments hypotheses, const std::vector<Segments>& references);

/// Line `line` of each reference set.
std::vector<std::string_view> references_of(const std::vector<Segments>& references, size_t line);

/// stats_of(line) for every line, computed on all threads.
template <class Stats, class F>
std::vector<Stats> stats_of_lines(size_t lines, F stats_of) {
  std::vector<Stats> stats(lines);
  parallel_items(int64_t(lines), [&](int64_t line, int) { stats[size_t(line)] = stats_of(size_t(line)); });
  return stats;
}

/// In the order of the lines, so that figures do not depend on the number of threads.
template <class Stats>
Stats sum_of(const std::vector<Stats>& lines) {
  Stats sum;
  for (const Stats& line : lines) sum += line;
  return sum;
}

}  // namespace dragoman
