#include "align/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace dragoman {
namespace {

// Row by row.
void write_soft(const LineAlignment& line, const std::function<void(std::string_view)>& write) {
  int64_t first = 0;  // source token of the segment
  std::string row;
  bool begun = false;
  for (const Alignment& segment : line.segments) {
    for (int64_t t = 0; t < segment.targets(); ++t) {
      row = std::exchange(begun, true) ? " " : "";
      for (int64_t s = 0; s < line.sources; ++s) {
        if (s > 0) row += ',';
        if (first <= s && s < first + segment.sources)
          fmt::format_to(std::back_inserter(row), "{:.6g}", segment.row(t)[s - first]);
        else
          row += '0';
      }
      write(row);
    }
    first += segment.sources;
  }
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

void drop_sources(Alignment& alignment, size_t first, size_t tokens) {
  if (tokens == 0 || alignment.weights.empty()) return;
  invariant(int64_t(first + tokens) <= alignment.sources, "only tokens of the source are dropped");
  std::vector<float> kept;
  for (int64_t target = 0; target < alignment.targets(); ++target) {
    const auto row = alignment.row(target);
    kept.insert(kept.end(), row.begin(), row.begin() + ptrdiff_t(first));
    kept.insert(kept.end(), row.begin() + ptrdiff_t(first + tokens), row.end());
  }
  alignment = {alignment.sources - int64_t(tokens), std::move(kept)};
}

void write_alignment(const LineAlignment& alignment, const AlignmentStyle& style,
                     const std::function<void(std::string_view)>& write) {
  if (style.kind == AlignmentStyle::soft) return write_soft(alignment, write);
  std::vector<TokenLink> links = alignment.links;
  std::ranges::sort(links);
  std::string text;
  for (const auto& [source, target] : links) text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source, target);
  write(text);
}

std::string to_text(const LineAlignment& alignment, const AlignmentStyle& style) {
  std::string text;
  write_alignment(alignment, style, [&](std::string_view part) { text += part; });
  return text;
}

}  // namespace dragoman
