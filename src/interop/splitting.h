#pragma once
#include <string>
#include <vector>

#include "interop/file_set.h"
#include "model/config.h"
#include "vocab/listed_vocabulary.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// The tokenizer of one side of a model with a token list. Without a tokenizer file, text is split at blanks: it must
/// already consist of pieces.
struct Splitting {
  SegmentationKind kind = SegmentationKind::tokens;
  std::string model = {};
  std::string path = {};  // of its file, for messages
};

/// Loads a SentencePiece model, or the merges of subword-nmt or fastBPE (recognised by a first line "#version: …" or by
/// the file name: "….bpe", "bpecodes", "code" and the like).
Splitting load_splitting(const std::string& path);

/// The usual names of the tokenizer file beside a model, the preferred first; `side` is "source" or "target".
std::vector<std::string> tokenizer_names(const std::string& side);

/// Finds the tokenizer file beside a model by its usual names.
Splitting find_splitting(const FileSet& texts, const std::string& side);

/// Without a tokenizer file, warns that the text must already consist of pieces.
void warn_unless_split(const Splitting& splitting, const std::string& where);

/// Warns of a list that was filled up with more pieces than programs add to round sizes up: it may be another model's.
void warn_if_short(const Vocabulary& vocabulary, const std::string& list);

/// A list of pieces with this tokenizer and the special ids of a model.
ListedVocabulary listed_vocabulary(std::vector<std::string> pieces, Splitting splitting, const SpecialIds& special);

}  // namespace dragoman
