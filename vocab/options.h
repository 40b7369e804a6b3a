#pragma once
#include <cstdint>

#include "base/enum_names.h"

namespace dragoman {

/// How SentencePiece learns its pieces: byte-pair encoding (Sennrich et al. 2016) or unigram (Kudo 2018).
enum class VocabularyType { bpe, unigram };

inline std::span<const EnumName<VocabularyType>> enum_names(VocabularyType) {
  static constexpr EnumName<VocabularyType> names[] = {{VocabularyType::bpe, "bpe"},
                                                       {VocabularyType::unigram, "unigram"}};
  return names;
}

/// The bounds of options for the number of pieces.
constexpr int least_pieces = 16, most_pieces = 1'000'000;

/// Lines that a new vocabulary is learned from, at random, if the text has more: they need memory, but raise no
/// quality.
constexpr int64_t usual_sample_lines = 10'000'000;

}  // namespace dragoman
