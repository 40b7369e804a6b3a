#include "align/alignment.h"

#include <fmt/format.h>

#include <algorithm>

namespace dragoman {
namespace {

std::string soft_text(const LineAlignment& line) {
  std::string text;
  int64_t first = 0;  // source token of the segment
  for (const Alignment& segment : line.segments) {
    for (int64_t t = 0; t < segment.targets(); ++t) {
      if (!text.empty()) text += ' ';
      for (int64_t s = 0; s < line.sources; ++s) {
        const bool within = first <= s && s < first + segment.sources;
        text += fmt::format("{}{:.6g}", s > 0 ? "," : "", within ? segment.row(t)[s - first] : 0.f);
      }
    }
    first += segment.sources;
  }
  return text;
}

}  // namespace

LineAlignment::LineAlignment(Alignment segment, const AlignmentStyle& style)
    : sources(segment.sources), targets(segment.targets()) {
  if (style.kind == AlignmentStyle::soft) {
    segments.push_back(std::move(segment));
    return;
  }
  for (int64_t t = 0; t < targets; ++t) {
    const auto row = segment.row(t);
    if (style.kind == AlignmentStyle::hard)
      links.push_back({std::ranges::max_element(row) - row.begin(), t});
    else
      for (int64_t s = 0; s < sources; ++s)
        if (row[s] > style.threshold) links.push_back({s, t});
  }
}

void append(LineAlignment& line, const LineAlignment& next) {
  for (const auto& [source, target] : next.links) line.links.push_back({line.sources + source, line.targets + target});
  line.segments.insert(line.segments.end(), next.segments.begin(), next.segments.end());
  line.sources += next.sources;
  line.targets += next.targets;
}

void drop_targets(Alignment& alignment, int64_t tokens) {
  const int64_t numbers = std::min(tokens, alignment.targets()) * alignment.sources;
  alignment.weights.erase(alignment.weights.begin(), alignment.weights.begin() + numbers);
}

std::string to_text(const LineAlignment& alignment, const AlignmentStyle& style) {
  if (style.kind == AlignmentStyle::soft) return soft_text(alignment);
  std::vector<TokenLink> links = alignment.links;
  std::ranges::sort(links);
  std::string text;
  for (const auto& [source, target] : links) text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source, target);
  return text;
}

}  // namespace dragoman
