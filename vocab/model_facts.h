#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// What a SentencePiece model says about its making and the library's interface does not tell.
struct ModelFacts {
  std::string type = "unigram";                     // bpe, unigram, word, char
  std::string normalization;                        // the name of the rule; empty: not recorded
  std::vector<std::string> protected_symbols = {};  // pieces that are never split, in the order of their numbers
};

/// Reads them from the bytes of a model, a protocol buffer (sentencepiece_model.proto).
ModelFacts facts_of(std::string_view model);

}  // namespace dragoman
