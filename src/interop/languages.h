#pragma once
#include "io/model_file.h"
#include "model/frame.h"

namespace dragoman {

/// Source and target language of a multilingual model, as in its vocabulary or in short: "fra" for `>>fra<<`, "fr" for
/// `__fr__` or `<2fr>`, "fra_Latn". Empty: the language stored in the model.
struct Languages {
  std::string source, target;
};

/// Whether a piece names a language as multilingual models do: `__fr__`, `fra_Latn` or `fr_XX`.
bool names_language(const std::string& piece);

/// Whether a piece of the vocabulary names the language, as set_languages() needs it: one of a language of the shapes
/// of names_language(), of a tag, or any control piece, such as `__gsw_CH__`.
bool knows_language(const Vocabulary& vocabulary, const std::string& language);

/// Whether two or more pieces of a vocabulary name languages so: one may be ordinary text.
bool lists_languages(const Vocabulary& vocabulary);

/// The tags with which a source begins, which are those of the whole text: the language to translate into, `>>fra<<`,
/// and protected symbols such as `<2fr>` and `<med>`, by a SentencePiece model `▁ <med> ▁ <2fr>`. Empty: there are
/// none.
std::span<const int32_t> leading_tags(const Vocabulary& vocabulary, std::span<const int32_t> source);

/// Whether one of the tags names the language to translate into.
bool name_language(const Vocabulary& vocabulary, std::span<const int32_t> tags);

/// Whether pieces such as `>>fra<<` name the language to translate into.
bool has_languages_in_source(const Vocabulary& source);

/// Whether any pieces name the language to translate into and begin the source: `>>fra<<` or `<2fr>`.
bool has_tags(const Vocabulary& source);

/// The languages that each run or request has to choose, as Languages names them, in alphabetical order. A side is
/// empty if its language is stored in the model, or if no piece names one. knows_language() may know others, too, as
/// nothing tells control pieces that name languages from those that do not.
struct LanguageChoice {
  std::vector<std::string> sources, targets;
  bool in_text = false;  // targets are pieces of the source: the target may also be the tag with which a text begins
};
LanguageChoice language_choice(const ModelConfig& config, const Vocabularies& vocabularies);

/// Sets the languages in a configuration. A model whose lines begin with tags takes any of them as its target. Error
/// for a model without languages, and for languages that it does not know. `where` names the model in messages.
void set_languages(ModelConfig& config, const Vocabularies& vocabularies, const Languages& languages,
                   const std::string& where);

/// The frames of sentences in these languages. Errors as of set_languages() and frames_of().
SentenceFrames frames_of(ModelConfig config, const Vocabularies& vocabularies, const Languages& languages,
                         const std::string& where);

}  // namespace dragoman
