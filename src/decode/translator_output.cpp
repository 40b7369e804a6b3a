#include <algorithm>
#include <array>

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

int64_t Translator::tokens_to_align(const Text& text) {
  int64_t tokens = 0;
  for (size_t s = 0; s < text.sources.size(); ++s)
    for (const Hypothesis& h : text.found[s]) tokens += std::max(std::ssize(text.sources[s]), std::ssize(h.ids));
  return tokens;
}

// The next hypotheses to align, in order: those of one batch, at least one if there are any.
std::vector<Translator::Unaligned> Translator::next_unaligned(std::span<Text* const> texts) const {
  std::vector<Unaligned> next;
  int64_t source = 0, target = 0;  // tokens
  for (Text* const text : texts) {
    if (text->error) continue;
    const size_t so_far = text->aligned.size();  // sentences, of which the last may lack hypotheses
    for (size_t s = so_far > 0 ? so_far - 1 : 0; s < text->sources.size(); ++s)
      for (size_t rank = s < so_far ? text->aligned[s].size() : 0; rank < text->found[s].size(); ++rank) {
        source += std::ssize(text->sources[s]), target += std::ssize(text->found[s][rank].ids);
        if (!next.empty() && std::max(source, target) > tokens_at_once()) return next;
        next.push_back({text, s, rank});
      }
  }
  return next;
}

// Uses a forced pass over the hypotheses, because decoding keeps no attention weights. Their matrices are large, so
// none outlives its batch unless it is wanted.
void Translator::align(std::span<const Unaligned> hypotheses) {
  const SentenceFrames frames = frames_of(first_.model->config());
  std::vector<IdPair> pairs;
  for (const auto& [text, sentence, rank] : hypotheses)
    pairs.emplace_back(frames.source.around(text->sources[sentence]),
                       target_of(text->found[sentence][rank], frames.target));
  std::vector<Alignment> alignments = align_pairs(*first_.cx, *first_.model, pairs);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const auto [text, sentence, rank] = hypotheses[i];
    drop_targets(alignments[i], int64_t(frames.target.before.size()));
    Aligned aligned;
    if (!text->ranges.empty()) aligned.links = links(*text, sentence, text->found[sentence][rank], alignments[i]);
    aligned.alignment = LineAlignment(std::move(alignments[i]), text->alignment);
    text->aligned.resize(sentence + 1);
    text->aligned[sentence].push_back(std::move(aligned));
  }
}

// Aligns the next batch of hypotheses; returns the text of the last one, null if there are none left. If that fails,
// each text is tried alone, and those get the error that cannot be aligned: a search needs less memory than this.
Translator::Text* Translator::align_batch(std::span<Text* const> texts) {
  const std::vector<Unaligned> next = next_unaligned(texts);
  if (next.empty()) return nullptr;
  try {
    align(next);
  } catch (const std::exception&) {
    Text* last = nullptr;
    for (const Unaligned& u : next) {
      if (u.text == std::exchange(last, u.text)) continue;
      try {
        align(next_unaligned(std::array{u.text}));
      } catch (const std::exception&) {
        u.text->error = std::current_exception();
      }
    }
  }
  return next.back().text;
}

// Links each target token to the source token with the largest attention weight, and each source token that is left to
// the target token with the largest weight, except ends and language pieces.
std::vector<Link> Translator::links(const Text& text, size_t sentence, const Hypothesis& hypothesis,
                                    const Alignment& alignment) const {
  size_t first = 0;  // token of this sentence in the text
  for (size_t i = 0; i < sentence; ++i) first += text.sources[i].size();
  const size_t given = frames_of(first_.model->config()).source.before.size();
  const size_t tokens = text.sources[sentence].size();
  const auto ranges = vocabularies_.target.decode_with_offsets(hypothesis.ids).ranges;
  const std::span sources = std::span(text.ranges).subspan(first, tokens);
  std::vector<Link> links;
  std::vector<bool> linked(tokens);
  std::vector<std::pair<float, size_t>> best(tokens, {0.f, SIZE_MAX});  // weight and number of a target token
  for (size_t target = 0; target < std::min(ranges.size(), size_t(alignment.targets())) && tokens > 0; ++target) {
    if (ranges[target].size() == 0) continue;
    const auto weights = alignment.row(int64_t(target)).subspan(given, tokens);
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
