#include "interop/languages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr std::string_view blank = "▁";

bool is_bracketed(std::string_view piece) {
  return piece.size() > 2 && piece.starts_with('<') && piece.find('>') == piece.size() - 1;
}

bool names_opus_target(std::string_view piece) { return piece.starts_with(">>") && piece.ends_with("<<"); }

// Whether a piece names the language to translate into and begins the source.
bool names_target(std::string_view piece) {
  return names_opus_target(piece) || (piece.starts_with("<2") && is_bracketed(piece));
}

// Whether a piece is a symbol such as `<news>`.
bool is_symbol(const Vocabulary& v, int32_t id) {
  return is_bracketed(v.piece(id)) && !v.is_special(id) && !v.is_byte(id);
}

// The short form may also be an ordinary piece: "it" is a word.
std::optional<int32_t> id_of(const Vocabulary& v, const std::string& language) {
  for (const std::string& piece :
       {fmt::format("__{}__", language), fmt::format(">>{}<<", language), fmt::format("<2{}>", language), language})
    if (const auto id = v.find(piece); id && (v.is_control(*id) || names_language(piece) || names_target(piece)))
      return id;
  return std::nullopt;
}

// The reverse of id_of(): "fr" of `__fr__`.
std::string short_name(const std::string& piece) {
  const size_t before = names_opus_target(piece) || piece.starts_with("<2") || piece.starts_with("__") ? 2 : 0;
  const size_t after = piece.starts_with("<2") ? 1 : before;
  return piece.substr(before, piece.size() - before - after);
}

std::vector<std::string> languages_in(const Vocabulary& v, bool (*names)(const std::string& piece)) {
  std::set<std::string> found;
  for (int32_t id = 0; id < v.size(); ++id)
    if (names(v.piece(id))) found.insert(short_name(v.piece(id)));
  return {found.begin(), found.end()};
}

int known(const Vocabulary& v, const std::string& language, const char* side, const std::string& where) {
  if (const auto id = id_of(v, language)) return *id;
  throw Error(fmt::format("--{}-lang {}: {} has no piece that names this language", side, language, where),
              "languages are named as in the model: fr for __fr__, fra_Latn, fr_XX, fra for >>fra<<, or fr for <2fr>");
}

// Whether a source may begin with the tag of its target language.
bool takes_tags(const ModelConfig& config, const Vocabulary& source) {
  const TargetLanguage target = config.generation.target_language;
  return target == TargetLanguage::source ||
         (target == TargetLanguage::none && config.type != ModelType::decoder_only && has_tags(source));
}

void set_target(GenerationConfig& g, const Vocabularies& v, const std::string& language, const std::string& where) {
  const bool in_source = g.target_language == TargetLanguage::source;
  g.target_language_id = known(in_source ? v.source : v.target, language, "target", where);
  if (!in_source) return;
  const std::vector<int32_t> written = v.source.encode(v.source.piece(g.target_language_id));
  const auto tags = leading_tags(v.source, written);
  g.target_language_blank_id = tags.size() == 2 ? tags[0] : -1;
}

}  // namespace

bool names_language(const std::string& piece) {
  static constexpr std::array<std::string_view, 4> shapes = {"__aa__", "__aaa__", "aaa_Aaaa", "aa_AA"};
  std::string shape = piece.substr(0, 9);  // longer than all of them
  for (char& letter : shape) {
    if (letter >= 'a' && letter <= 'z') letter = 'a';
    if (letter >= 'A' && letter <= 'Z') letter = 'A';
  }
  return std::ranges::count(shapes, shape) > 0;
}

bool knows_language(const Vocabulary& vocabulary, const std::string& language) {
  return id_of(vocabulary, language).has_value();
}

bool lists_languages(const Vocabulary& vocabulary) {
  int count = 0;
  for (int32_t id = 0; id < vocabulary.size(); ++id) count += names_language(vocabulary.piece(id));
  return count > 1;
}

bool has_languages_in_source(const Vocabulary& source) {
  for (int32_t id = 0; id < source.size(); ++id)
    if (names_opus_target(source.piece(id))) return true;
  return false;
}

bool has_tags(const Vocabulary& source) {
  for (int32_t id = 0; id < source.size(); ++id)
    if (names_target(source.piece(id))) return true;
  return false;
}

std::span<const int32_t> leading_tags(const Vocabulary& vocabulary, std::span<const int32_t> source) {
  size_t tags = 0;
  for (size_t at = 0; at < source.size(); ++at) {
    const std::string& piece = vocabulary.piece(source[at]);
    if (names_target(piece) || is_symbol(vocabulary, source[at]))
      tags = at + 1;
    else if (piece != blank)
      break;
  }
  return source.first(tags);
}

bool name_language(const Vocabulary& vocabulary, std::span<const int32_t> tags) {
  return std::ranges::any_of(tags, [&](int32_t id) { return names_target(vocabulary.piece(id)); });
}

void set_languages(ModelConfig& config, const Vocabularies& v, const Languages& languages, const std::string& where) {
  GenerationConfig& g = config.generation;
  if (!languages.source.empty()) {
    require(g.source_language != SourceLanguage::none, "--source-lang {}: {} takes no source language",
            languages.source, where);
    g.source_language_id = known(v.source, languages.source, "source", where);
  }
  if (!languages.target.empty()) {
    if (takes_tags(config, v.source)) g.target_language = TargetLanguage::source;
    require(g.target_language != TargetLanguage::none, "--target-lang {}: {} takes no target language",
            languages.target, where);
    set_target(g, v, languages.target, where);
  }
}

LanguageChoice language_choice(const ModelConfig& config, const Vocabularies& v) {
  const GenerationConfig& g = config.generation;
  LanguageChoice choice;
  if (g.source_language != SourceLanguage::none && g.source_language_id < 0)
    choice.sources = languages_in(v.source, names_language);
  if (g.target_language_id >= 0) return choice;
  if (g.target_language == TargetLanguage::target) {
    choice.targets = languages_in(v.target, names_language);
  } else if (takes_tags(config, v.source)) {
    choice.targets = languages_in(v.source, [](const std::string& piece) { return names_target(piece); });
    choice.in_text = !choice.targets.empty();
  }
  return choice;
}

SentenceFrames frames_of(ModelConfig config, const Vocabularies& vocabularies, const Languages& languages,
                         const std::string& where) {
  set_languages(config, vocabularies, languages, where);
  return frames_of(config);
}

}  // namespace dragoman
