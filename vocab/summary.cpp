#include "vocab/summary.h"

#include <algorithm>

#include "base/utf8.h"

namespace dragoman {
namespace {

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
    if (count_characters(vocabulary.piece(id)) > count_characters(summary.longest))
      summary.longest = vocabulary.piece(id);
  summary.longest_characters = int(count_characters(summary.longest));
  return summary;
}

}  // namespace dragoman
