#include "decode/piece_texts.h"

#include <algorithm>

#include "text/characters.h"
#include "text/words.h"

namespace dragoman {

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  for (size_t at = 0; at < text.size();) {
    const int32_t character = character_at(text, at);
    if (!is_blank(character))
      characters += character < 0 ? ill_formed : char32_t(character);
    else if (!characters.ends_with(U' '))
      characters += U' ';
  }
  return characters;
}

PieceTexts::PieceTexts(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), texts_(size_t(vocabulary.size())), byte_of_(texts_.size()) {
  for (int32_t piece = 0; piece < vocabulary.size(); ++piece) {
    const std::string written = vocabulary.text_of(piece);
    if (vocabulary.is_byte(piece) && uint8_t(written[0]) >= 0x80) {
      byte_of_[size_t(piece)] = uint8_t(written[0]);
      bytes_.push_back(piece);
      continue;
    }
    const std::u32string& text = texts_[size_t(piece)] = characters_of(written);
    if (!text.empty()) beginnings_.push_back({piece, 0});
    for (uint32_t at = 1; at < text.size(); ++at)
      if (is_boundary(text, at)) inside_.push_back({piece, at});
  }
  sort(beginnings_);
  sort(inside_);
}

void PieceTexts::sort(std::vector<Occurrence>& occurrences) const {
  std::ranges::sort(occurrences, {}, [&](const Occurrence& o) { return of(o.piece).substr(o.begin); });
}

std::span<const PieceTexts::Occurrence> PieceTexts::beginning_with(std::u32string_view characters) const {
  return among(beginnings_, characters);
}

std::span<const PieceTexts::Occurrence> PieceTexts::inside(std::u32string_view characters) const {
  return among(inside_, characters);
}

std::span<const PieceTexts::Occurrence> PieceTexts::among(const std::vector<Occurrence>& sorted,
                                                          std::u32string_view characters) const {
  const auto range = std::ranges::equal_range(
      sorted, characters, {}, [&](const Occurrence& o) { return of(o.piece).substr(o.begin, characters.size()); });
  return {range.begin(), range.end()};
}

}  // namespace dragoman
