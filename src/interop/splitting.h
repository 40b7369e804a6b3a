#pragma once
#include <string>
#include <vector>

#include "interop/file_set.h"
#include "vocab/listed_vocabulary.h"

namespace dragoman {

/// How the text of one side of a model with a list of pieces is split; without a file by blanks: then the text
/// already consists of pieces.
struct Splitting {
  SegmentationKind kind = SegmentationKind::tokens;
  std::string model = {};
};

/// A SentencePiece model, or merges of subword-nmt or fastBPE (by its name: "….bpe", "bpecodes", "code" and the like).
Splitting load_splitting(const std::string& path);

/// The file beside a model that programs give this name; `side` is "source" or "target".
Splitting find_splitting(const FileSet& texts, const std::string& side);

/// Warns that the text must consist of pieces if nothing splits it.
void warn_unless_split(const Splitting& splitting, const std::string& where);

}  // namespace dragoman
