#pragma once
#include "base/enum_names.h"

namespace dragoman {

/// How SentencePiece learns its pieces: byte-pair encoding (Sennrich et al. 2016) or unigram (Kudo 2018).
enum class VocabularyType { bpe, unigram };

inline std::span<const EnumName<VocabularyType>> enum_names(VocabularyType) {
  static constexpr EnumName<VocabularyType> names[] = {{VocabularyType::bpe, "bpe"},
                                                       {VocabularyType::unigram, "unigram"}};
  return names;
}

}  // namespace dragoman
