#include "align/alignment.h"

#include <fmt/format.h>

#include <algorithm>

namespace dragoman {
namespace {

struct Link {
  int64_t source, target;
  auto operator<=>(const Link&) const = default;
};

std::vector<Link> links(const Alignment& alignment, const AlignmentStyle& style) {
  std::vector<Link> found;
  for (int64_t t = 0; t < alignment.targets(); ++t) {
    const auto row = alignment.row(t);
    if (style.kind == AlignmentStyle::hard)
      found.push_back({std::ranges::max_element(row) - row.begin(), t});
    else
      for (int64_t s = 0; s < alignment.sources; ++s)
        if (row[s] > style.threshold) found.push_back({s, t});
  }
  std::ranges::sort(found);
  return found;
}

std::string soft_text(const Alignment& alignment) {
  std::string text;
  for (int64_t t = 0; t < alignment.targets(); ++t)
    text += fmt::format("{}{:.6g}", t > 0 ? " " : "", fmt::join(alignment.row(t), ","));
  return text;
}

}  // namespace

void append(Alignment& line, const Alignment& part) {
  Alignment whole{line.sources + part.sources, {}};
  for (int64_t t = 0; t < line.targets(); ++t) {
    whole.weights.insert(whole.weights.end(), line.row(t).begin(), line.row(t).end());
    whole.weights.resize(whole.weights.size() + part.sources);
  }
  for (int64_t t = 0; t < part.targets(); ++t) {
    whole.weights.resize(whole.weights.size() + line.sources);
    whole.weights.insert(whole.weights.end(), part.row(t).begin(), part.row(t).end());
  }
  line = std::move(whole);
}

void drop_targets(Alignment& alignment, int64_t tokens) {
  const int64_t numbers = std::min(tokens, alignment.targets()) * alignment.sources;
  alignment.weights.erase(alignment.weights.begin(), alignment.weights.begin() + numbers);
}

std::string to_text(const Alignment& alignment, const AlignmentStyle& style) {
  if (style.kind == AlignmentStyle::soft) return soft_text(alignment);
  std::string text;
  for (const Link& link : links(alignment, style))
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", link.source, link.target);
  return text;
}

}  // namespace dragoman
