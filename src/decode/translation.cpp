#include "decode/translation.h"

#include <algorithm>

#include "base/utf8.h"

namespace dragoman {
namespace {

void append(Translation& line, const Translation& part) {
  join(line.text, part.text);
  const size_t before = line.text.size() - part.text.size();
  for (Link link : part.links) {
    link.target = {before + link.target.begin, before + link.target.end};
    line.links.push_back(link);
  }
  line.log_prob += part.log_prob;
  line.score += part.score;
  line.length += part.length;
  line.piece_log_probs.insert(line.piece_log_probs.end(), part.piece_log_probs.begin(), part.piece_log_probs.end());
  line.ids.insert(line.ids.end(), part.ids.begin(), part.ids.end());
  append(line.alignment, part.alignment);
  for (size_t m = 0; m < line.by_model.size(); ++m) line.by_model[m] += part.by_model[m];
}

// The number of byte pieces at the end that form an incomplete character.
size_t unfinished_bytes(const Vocabulary& target, std::span<const int32_t> ids) {
  for (size_t last = 1; last <= std::min<size_t>(3, ids.size()); ++last) {
    const int32_t id = ids[ids.size() - last];
    if (!target.is_byte(id)) return 0;
    const char byte = target.text_of(id)[0];
    if (!continues_character(byte)) return last < size_t(character_bytes(byte)) ? last : 0;
  }
  return 0;
}

}  // namespace

std::vector<Translation> translations_of(const Vocabulary& target, std::vector<Hypothesis> hypotheses) {
  std::vector<Translation> translations;
  for (Hypothesis& h : hypotheses) {
    translations.push_back(
        {target.decode(h.ids), h.log_prob, h.score, h.length, std::move(h.piece_log_probs), std::move(h.by_model)});
    if (std::ssize(h.ids) < h.length) h.ids.push_back(target.eos());
    translations.back().ids = std::move(h.ids);
  }
  return translations;
}

std::string beginning_of(const Vocabulary& target, std::span<const int32_t> ids) {
  std::string text = target.decode(ids.first(ids.size() - unfinished_bytes(target, ids)));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

void join(std::string& text, const std::string& next) {
  if (!text.empty() && !next.empty()) text += ' ';
  text += next;
}

void append(std::vector<Translation>& line, std::vector<Translation> part) {
  if (line.empty()) return line.swap(part);
  line.resize(std::max(line.size(), part.size()), line.back());
  for (size_t rank = 0; rank < line.size(); ++rank) append(line[rank], part[std::min(rank, part.size() - 1)]);
}

}  // namespace dragoman
