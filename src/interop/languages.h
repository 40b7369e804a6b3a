#pragma once
#include "io/model_file.h"

namespace dragoman {

/// Source and target language of a multilingual model, as in its vocabulary or in short: "fra" for `>>fra<<`, "fr" for
/// `__fr__`, "fra_Latn". Empty: the language stored in the model.
struct Languages {
  std::string source, target;
};

/// Whether a piece names a language as multilingual models do: `__fr__`, `fra_Latn` or `fr_XX`.
bool names_language(const std::string& piece);

/// Whether a piece names the language to translate into and begins the source, such as `>>fra<<`.
bool names_target(std::string_view piece);

/// Whether pieces such as `>>fra<<` name the language to translate into.
bool has_languages_in_source(const Vocabulary& source);

/// Sets the languages in a configuration. Error for a model without languages, and for languages that it does not know.
/// `where` names the model in messages.
void set_languages(ModelConfig& config, const Vocabularies& vocabularies, const Languages& languages,
                   const std::string& where);

}  // namespace dragoman
