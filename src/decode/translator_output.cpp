#include <algorithm>
#include <utility>

#include "decode/translator.h"

// What a translator makes of the hypotheses that it has found.
namespace dragoman {

std::vector<Translation> Translator::best(Text text) const {
  const size_t members = models_ > 1 ? models_ : 0;
  std::vector<Translation> line;
  for (size_t i = 0; i < text.found.size(); ++i) {
    auto translations = translations_of(vocabularies_.target, std::move(text.found[i]));
    for (Translation& t : translations) t.by_model.resize(members);  // one without tokens has none
    for (size_t rank = 0; !text.aligned.empty() && rank < translations.size(); ++rank) {
      translations[rank].alignment = std::move(text.aligned[i][rank].alignment);
      translations[rank].links = std::move(text.aligned[i][rank].links);
    }
    append(line, std::move(translations));
  }
  if (line.empty()) line.emplace_back().by_model.resize(members);
  return line;
}

// A matrix of attention weights is large, so what is not wanted of it is dropped at once. Tokens are those of the text:
// tags that are repeated would move the numbers of all tokens behind them.
void Translator::take(Text& text, size_t sentence, const Hypothesis& hypothesis, Alignment alignment) const {
  Aligned& aligned = text.aligned[sentence].emplace_back();
  if (!text.ranges.empty()) aligned.links = links(text, sentence, hypothesis, alignment);
  drop_sources(alignment, text.source_frame, text.repeated[sentence]);
  aligned.alignment = LineAlignment(std::move(alignment), text.alignment);
}

// Links each target token to the source token with the largest attention weight, and each source token that is left to
// the target token with the largest weight, except ends and language pieces.
std::vector<Link> Translator::links(const Text& text, size_t sentence, const Hypothesis& hypothesis,
                                    const Alignment& alignment) const {
  size_t first = 0;  // token of this sentence in the text
  for (size_t i = 0; i < sentence; ++i) first += text.sources[i].size();
  const size_t tokens = text.sources[sentence].size();
  const auto ranges = vocabularies_.target.decode_with_offsets(hypothesis.ids).ranges;
  const std::span sources = std::span(text.ranges).subspan(first, tokens);
  std::vector<Link> links;
  std::vector<bool> linked(tokens);
  std::vector<std::pair<float, size_t>> best(tokens, {0.f, SIZE_MAX});  // weight and number of a target token
  for (size_t target = 0; target < std::min(ranges.size(), size_t(alignment.targets())) && tokens > 0; ++target) {
    if (ranges[target].size() == 0) continue;
    const auto weights = alignment.row(int64_t(target)).subspan(text.source_frame, tokens);
    const auto source = size_t(std::ranges::max_element(weights) - weights.begin());
    if (sources[source].size() > 0) links.push_back({sources[source], ranges[target]});
    linked[source] = true;
    for (size_t s = 0; s < tokens; ++s)
      if (weights[s] > best[s].first) best[s] = {weights[s], target};
  }
  for (size_t s = 0; s < tokens; ++s)
    if (!linked[s] && sources[s].size() > 0 && best[s].second != SIZE_MAX)
      links.push_back({sources[s], ranges[best[s].second], true});
  return links;
}

}  // namespace dragoman
