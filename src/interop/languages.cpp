#include "interop/languages.h"

#include <fmt/format.h>

#include <optional>
#include <regex>

#include "base/error.h"

namespace dragoman {
namespace {

// The short form may also be an ordinary piece: "it" is a word.
std::optional<int32_t> id_of(const Vocabulary& v, const std::string& language) {
  for (const std::string& piece : {fmt::format("__{}__", language), fmt::format(">>{}<<", language), language})
    for (int32_t id = 0; id < v.size(); ++id)
      if (v.piece(id) == piece && (v.is_control(id) || names_language(piece) || names_target(piece))) return id;
  return std::nullopt;
}

int known(const Vocabulary& v, const std::string& language, const char* side, const std::string& where) {
  if (const auto id = id_of(v, language)) return *id;
  throw Error(fmt::format("--{}-lang {}: {} has no piece that names this language", side, language, where),
              "languages are named as in the model: fr for __fr__, fra_Latn, fr_XX, or fra for >>fra<<");
}

}  // namespace

bool names_language(const std::string& piece) {
  static const std::regex form("__[a-z]{2,3}__|[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2}");
  return piece.size() <= 8 && std::regex_match(piece, form);
}

bool names_target(std::string_view piece) { return piece.starts_with(">>") && piece.ends_with("<<"); }

bool has_languages_in_source(const Vocabulary& source) {
  for (int32_t id = 0; id < source.size(); ++id)
    if (names_target(source.piece(id))) return true;
  return false;
}

void set_languages(ModelConfig& config, const Vocabularies& v, const Languages& languages, const std::string& where) {
  GenerationConfig& g = config.generation;
  if (!languages.source.empty()) {
    require(g.source_language != SourceLanguage::none, "--source-lang {}: {} takes no source language",
            languages.source, where);
    g.source_language_id = known(v.source, languages.source, "source", where);
  }
  if (!languages.target.empty()) {
    require(g.target_language != TargetLanguage::none, "--target-lang {}: {} takes no target language",
            languages.target, where);
    g.target_language_id =
        known(g.target_language == TargetLanguage::source ? v.source : v.target, languages.target, "target", where);
  }
}

}  // namespace dragoman
