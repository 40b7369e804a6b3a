#pragma once
#include <array>
#include <string>
#include <vector>

#include "interop/file_set.h"
#include "interop/json_object.h"
#include "io/model_file.h"

namespace dragoman {

/// The names of the lists of tokens of both sides. Error if the folder has none.
std::array<std::string, 2> ctranslate2_lists(const FileSet& folder);

/// The vocabularies of a CTranslate2 model, with the ids of its token lists. The tokenizer is `vocabs` (SentencePiece
/// models or subword-nmt merges) or such a file in `texts`; without one, the text must already be tokenised and is
/// split at blanks. Sets the ids of special pieces and the positions of languages in `model`.
Vocabularies ctranslate2_vocabularies(const FileSet& folder, const FileSet& texts,
                                      const std::vector<std::string>& vocabs, const JsonObject& config,
                                      ModelConfig& model);

}  // namespace dragoman
