#pragma once
#include <string>
#include <vector>

#include "interop/file_set.h"
#include "interop/json_object.h"
#include "io/model_file.h"

namespace dragoman {

/// The vocabularies of a model of CTranslate2, numbered by its lists of tokens. Text is split by `vocabs`
/// (SentencePiece models or subword-nmt's merges), by such a file in `texts`, or by blanks if it is already tokenised.
/// Enters the ids of special pieces and the positions of languages into the configuration.
Vocabularies ctranslate2_vocabularies(const FileSet& folder, const FileSet& texts,
                                      const std::vector<std::string>& vocabs, const JsonObject& config,
                                      ModelConfig& model);

}  // namespace dragoman
