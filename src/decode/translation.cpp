#include "decode/translation.h"

#include <algorithm>

#include "decode/scoring.h"

namespace dragoman {
namespace {

void append(Translation& line, const Translation& part, const SearchOptions& options) {
  if (!line.text.empty() && !part.text.empty()) line.text += ' ';
  line.text += part.text;
  line.log_prob += part.log_prob;
  line.length += part.length;
  line.piece_log_probs.insert(line.piece_log_probs.end(), part.piece_log_probs.begin(), part.piece_log_probs.end());
  append(line.alignment, part.alignment);
  for (size_t m = 0; m < line.by_model.size(); ++m) line.by_model[m] += part.by_model[m];
  if (line.length > 0) line.score = score(options, line.log_prob, line.length);
}

}  // namespace

std::vector<Translation> translations_of(const Vocabulary& target, std::vector<Hypothesis> hypotheses) {
  std::vector<Translation> translations;
  for (Hypothesis& h : hypotheses)
    translations.push_back(
        {target.decode(h.ids), h.log_prob, h.score, h.length, std::move(h.piece_log_probs), std::move(h.by_model)});
  return translations;
}

void append(std::vector<Translation>& line, std::vector<Translation> part, const SearchOptions& options) {
  if (line.empty()) return line.swap(part);
  line.resize(std::max(line.size(), part.size()), line.back());
  for (size_t rank = 0; rank < line.size(); ++rank) append(line[rank], part[std::min(rank, part.size() - 1)], options);
}

}  // namespace dragoman
