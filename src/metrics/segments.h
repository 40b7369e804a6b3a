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

/// The sum of stats_of(line) over all lines, on all threads. Stats are counts: the order of adding changes nothing.
template <class Stats, class F>
Stats sum_over_lines(size_t lines, F stats_of) {
  std::vector<Stats> partial(thread_count());
  parallel_blocks(int64_t(lines), 64, [&](Range range, int thread) {
    Stats sum;
    for (int64_t line = range.begin; line < range.end; ++line) sum += stats_of(size_t(line));
    partial[thread] = sum;
  });
  Stats total;
  for (const Stats& sum : partial) total += sum;
  return total;
}

}  // namespace dragoman
