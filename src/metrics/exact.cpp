#include "metrics/exact.h"

#include <algorithm>

#include "base/utf8.h"
#include "metrics/text.h"

namespace dragoman {
namespace {

std::u32string normalize(std::string_view line, Case letters) {
  const std::u32string text = code_points(line);
  std::u32string_view inner = metrics::strip_right(text);
  while (!inner.empty() && metrics::is_space(inner.front())) inner.remove_prefix(1);
  return letters == Case::lower ? metrics::lower(inner) : std::u32string(inner);
}

}  // namespace

ExactStats& ExactStats::operator+=(const ExactStats& other) {
  equal += other.equal;
  lines += other.lines;
  return *this;
}

ExactStats exact_stats(std::string_view hypothesis, std::span<const std::string_view> references, Case letters) {
  const std::u32string text = normalize(hypothesis, letters);
  const bool equal = std::ranges::any_of(references, [&](auto r) { return normalize(r, letters) == text; });
  return {.equal = equal, .lines = 1};
}

double exact(const ExactStats& stats) { return stats.lines > 0 ? 100 * double(stats.equal) / double(stats.lines) : 0; }

std::vector<ExactStats> exact_of_lines(Segments hypotheses, const std::vector<Segments>& references, Case letters) {
  require_parallel(hypotheses, references);
  return stats_of_lines<ExactStats>(hypotheses.size(), [&](size_t line) {
    return exact_stats(hypotheses[line], references_of(references, line), letters);
  });
}

}  // namespace dragoman
