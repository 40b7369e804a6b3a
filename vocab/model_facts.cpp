#include "vocab/model_facts.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "vocab/container.h"
#include "vocab/continued_pieces.h"
#include "vocab/wire_format.h"

namespace dragoman {
namespace {

// The first field with this number, or an empty one.
WireField find(std::string_view message, uint64_t id) {
  Message fields(message);
  while (const auto field = fields.next())
    if (field->id == id) return *field;
  return {};
}

std::vector<std::string> protected_symbols(std::string_view model) {
  constexpr uint64_t piece = 1, piece_text = 1, piece_type = 3, user_defined = 4;
  std::vector<std::string> symbols;
  Message fields(model);
  while (const auto field = fields.next())
    if (field->id == piece && find(field->bytes, piece_type).number == user_defined)
      symbols.emplace_back(find(field->bytes, piece_text).bytes);
  return symbols;
}

ModelFacts facts_of_sentencepiece(std::string_view model) {
  constexpr uint64_t trainer = 2, trainer_model_type = 3, normalizer = 3, normalizer_name = 1;
  constexpr std::string_view types[] = {"unigram", "unigram", "bpe", "word", "char"};  // 0 is "not set": the default
  const uint64_t type = find(find(model, trainer).bytes, trainer_model_type).number;
  return {.type = std::string(type < std::size(types) ? types[type] : "unknown"),
          .normalization = std::string(find(find(model, normalizer).bytes, normalizer_name).bytes),
          .protected_symbols = protected_symbols(model)};
}

ModelFacts facts_of_list(const ListedVocabulary& list) {
  if (list.segmentation == SegmentationKind::tokens)
    return {.type = "tokens", .normalization = "none", .joins_tokens = has_continued_pieces(list.pieces)};
  if (list.segmentation == SegmentationKind::bpe) return {.type = "merges", .normalization = "none"};
  ModelFacts facts = facts_of_sentencepiece(list.model);
  facts.type += " with a list";
  std::erase_if(facts.protected_symbols,
                [&](const std::string& symbol) { return std::ranges::count(list.pieces, symbol) == 0; });
  return facts;
}

}  // namespace

ModelFacts facts_of(std::string_view vocabulary) {
  return is_container(vocabulary) ? facts_of_list(from_container(vocabulary, "the vocabulary"))
                                  : facts_of_sentencepiece(vocabulary);
}

}  // namespace dragoman
