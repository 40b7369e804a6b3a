#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

constexpr char32_t ill_formed = 0xFFFD;  // what stands for bytes that are no UTF-8

/// The characters of a text, with one space for blanks of any kind and number, and `ill_formed` for such bytes.
std::u32string characters_of(std::string_view text);

/// The text that each piece of a vocabulary writes, and where in the pieces a text occurs, whatever the segmentation.
/// Immutable, so threads may share it. To make it costs a pass over the vocabulary and sorting; a look-up is a binary
/// search.
class PieceTexts {
 public:
  explicit PieceTexts(const Vocabulary& vocabulary);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// characters_of() its text; empty if the piece is a byte that is only a part of a character.
  std::u32string_view of(int32_t piece) const { return texts_[size_t(piece)]; }
  /// The part of a character that a piece writes: a byte of 0x80 or more. 0: it writes whole characters.
  uint8_t byte(int32_t piece) const { return byte_of_[size_t(piece)]; }
  /// The pieces that write such a byte.
  std::span<const int32_t> bytes() const { return bytes_; }

  struct Occurrence {
    int32_t piece;
    uint32_t begin;  // index of its first character
  };
  /// The pieces that begin with these characters.
  std::span<const Occurrence> beginning_with(std::u32string_view characters) const;
  /// The occurrences of these characters further on in pieces, where a word may begin.
  std::span<const Occurrence> inside(std::u32string_view characters) const;

 private:
  std::span<const Occurrence> among(const std::vector<Occurrence>& sorted, std::u32string_view characters) const;
  void sort(std::vector<Occurrence>& occurrences) const;

  const Vocabulary vocabulary_;
  std::vector<std::u32string> texts_;
  std::vector<uint8_t> byte_of_;
  std::vector<int32_t> bytes_;
  std::vector<Occurrence> beginnings_, inside_;  // in the order of the characters from there on
};

}  // namespace dragoman
