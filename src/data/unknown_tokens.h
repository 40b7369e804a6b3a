#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

/// Numbers of tokens of one side of a text, without special ones around sentences: all, and those that are unknown to
/// the vocabulary.
struct UnknownTokens {
  int64_t tokens = 0, unknown = 0;

  void add(std::span<const int32_t> ids, int32_t unknown_id);
  void add(const UnknownTokens& more);
};

/// Where the tokens come from, in the words of a warning.
struct EncodedSide {
  std::string text;             // its file
  std::string vocabulary_name;  // its file, or that of the model that contains it
  Vocabulary vocabulary;
  int side = 0;               // 0: source, 1: target
  bool given_pieces = false;  // --no-spm-encode
};

/// Source and target, whose vocabularies are in files of --vocabs or, without them, in a model.
std::array<EncodedSide, 2> encoded_sides(const std::array<std::string, 2>& texts,
                                         const std::array<Vocabulary, 2>& vocabularies,
                                         const std::vector<std::string>& vocabs, const std::string& model,
                                         bool given_pieces);

/// Warns once if more than a fifth of the tokens are unknown: text that is not split into pieces as --no-spm-encode
/// expects, not into the tokens that the vocabulary lists, or of another language. Nothing but the translations would
/// show it.
class UnknownTokensWarning {
 public:
  explicit UnknownTokensWarning(EncodedSide side) : side_(std::move(side)) {}
  /// The first thousand tokens are enough to tell. Users need not wait for the others.
  void during(const UnknownTokens& so_far);
  void at_end(const UnknownTokens& all);

 private:
  EncodedSide side_;
  bool warned_ = false;
};

}  // namespace dragoman
