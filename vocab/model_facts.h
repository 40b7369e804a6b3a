#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// What the bytes of a vocabulary record beyond its interface.
struct ModelFacts {
  std::string type = "unigram";  // bpe, unigram, word, char, each perhaps "with a list"; tokens; merges
  std::string normalization;     // the name of the rule; empty: not recorded
  bool joins_tokens = false;     // decode() joins tokens that end in "@@" (has_continued_pieces)
  std::vector<std::string> protected_symbols = {};  // pieces that are never split, in the order of their numbers
};

/// Reads them from the bytes of a vocabulary: a SentencePiece model, which is a protocol buffer
/// (sentencepiece_model.proto), or the container of a list.
ModelFacts facts_of(std::string_view vocabulary);

}  // namespace dragoman
