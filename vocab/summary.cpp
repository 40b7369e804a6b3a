#include "vocab/summary.h"

#include <algorithm>

namespace dragoman {
namespace {

int characters(const std::string& text) {
  return int(std::count_if(text.begin(), text.end(), [](char c) { return (uint8_t(c) & 0xC0) != 0x80; }));
}

std::vector<int32_t> learned_pieces(const Vocabulary& vocabulary, const ModelFacts& facts) {
  std::vector<int32_t> learned;
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (!vocabulary.is_special(id) && !vocabulary.is_byte(id) &&
        std::ranges::count(facts.protected_symbols, vocabulary.piece(id)) == 0)
      learned.push_back(id);
  return learned;
}

}  // namespace

VocabularySummary summary_of(const Vocabulary& vocabulary) {
  VocabularySummary summary{.facts = facts_of(vocabulary.bytes())};
  summary.learned = learned_pieces(vocabulary, summary.facts);
  for (int32_t id = 0; id < vocabulary.size(); ++id) summary.byte_pieces += vocabulary.is_byte(id);
  for (const int32_t id : summary.learned)
    if (characters(vocabulary.piece(id)) > characters(summary.longest)) summary.longest = vocabulary.piece(id);
  summary.longest_characters = characters(summary.longest);
  return summary;
}

}  // namespace dragoman
