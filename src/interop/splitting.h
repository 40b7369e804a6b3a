#pragma once
#include <string>
#include <vector>

#include "interop/file_set.h"
#include "vocab/listed_vocabulary.h"

namespace dragoman {

/// What splits the text of one side of a model whose pieces a list numbers; by blanks, if nothing does: then the text
/// consists of pieces already.
struct Splitting {
  SegmentationKind kind = SegmentationKind::tokens;
  std::string model = {};
};

/// A SentencePiece model, or merges of subword-nmt or fastBPE (by its name: "….bpe", "bpecodes", "code" and the like).
Splitting load_splitting(const std::string& path);

/// The file that the programs name so, beside a model; `side` is "source" or "target".
Splitting find_splitting(const FileSet& texts, const std::string& side);

/// Says that a text has to consist of pieces, if nothing splits it.
void warn_unless_split(const Splitting& splitting, const std::string& where);

}  // namespace dragoman
