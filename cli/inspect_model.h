#pragma once
#include "cli/inspect_file.h"
#include "io/model_file.h"

namespace dragoman {

/// Adds architecture, vocabularies and parameters of a model.
void add_model(Description& description, const ModelFile& model);

/// "10,000 pieces, bpe, with byte fallback"
std::string vocabulary_in_words(const Vocabulary& vocabulary);
Json vocabulary_json(const Vocabulary& vocabulary);  // pieces, type, byte_fallback

}  // namespace dragoman
