#include "interop/huggingface_vocabulary.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/symbolic_links.h"
#include "base/words.h"
#include "interop/languages.h"
#include "interop/m2m100_languages.h"
#include "interop/splitting.h"
#include "vocab/listed_vocabulary.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct SplittingModel {
  std::string path, bytes;
};

SplittingModel sentencepiece_of(const fs::path& folder, const char* name) {
  if (!is_there(folder / name))
    throw Error(fmt::format("{} has no {}, which splits text into pieces", folder.string(), name),
                "download it into the same folder; newer versions of transformers do not save it");
  return {folder / name, read_regular_file(folder / name)};
}

int unknown_piece(const std::vector<std::string>& pieces, const std::string& where) {
  const auto found = std::ranges::find(pieces, "<unk>");
  require(found != pieces.end(), "{} has no <unk>", where);
  return int(found - pieces.begin());
}

Vocabulary vocabulary_of(const ModelConfig& c, std::vector<std::string> pieces, std::vector<int32_t> control,
                         SplittingModel sentencepiece, int rows, const std::string& where) {
  ListedVocabulary v;
  v.segmentation = SegmentationKind::sentencepiece;
  v.pieces = std::move(pieces);
  v.special = {.unk = c.special.unk, .bos = c.special.bos, .eos = c.special.eos, .pad = c.special.pad};
  v.special.control.assign(control.begin(), control.end());
  v.model = std::move(sentencepiece.bytes);
  v.model_name = std::move(sentencepiece.path);
  const int64_t listed = int64_t(v.pieces.size());
  require(listed <= rows && rows <= listed + most_unused, "{} has {} pieces, but the model's configuration says {}",
          where, listed, rows);
  fill_up(v, rows);
  return Vocabulary::from_list(std::move(v), where);
}

/// Tokens beyond the pieces of the vocabulary, such as languages, by id.
using AddedTokens = std::map<int64_t, std::string>;

void add(AddedTokens& tokens, const json& id, const json& text, const std::string& where) {
  require(id.is_number_integer() && text.is_string(), "{}: {} is the id of {}, expected a number and a text", where,
          id.dump(), text.dump());
  tokens.emplace(id.get<int64_t>(), text.get<std::string>());
}

// Different versions of transformers write them to different files; the first file that exists is used.
AddedTokens tokens_with_ids(const fs::path& folder) {
  AddedTokens tokens;
  const JsonObject tokenizer(folder / "tokenizer.json"), added(folder / "added_tokens.json"),
      settings(folder / "tokenizer_config.json");
  if (tokenizer.has("added_tokens") && tokenizer.root()["added_tokens"].is_array()) {
    for (const json& t : tokenizer.root()["added_tokens"])
      if (t.is_object()) add(tokens, t.value("id", json()), t.value("content", json()), tokenizer.path());
  } else if (!added.root().empty()) {
    for (const auto& [text, id] : added.root().items()) add(tokens, id, text, added.path());
  } else if (settings.has("added_tokens_decoder") && settings.root()["added_tokens_decoder"].is_object()) {
    for (const auto& [id, t] : settings.root()["added_tokens_decoder"].items())
      if (t.is_object()) add(tokens, parse_json(id), t.value("content", json()), settings.path());
  }
  return tokens;
}

// Tokens that were added to those of MarianMT or T5. Languages may be given by --target-lang; in text, only >>fra<< at
// the beginning of a line is found, so that it is an ordinary piece, as those of vocab.json are. T5's <extra_id_0> and
// the like are for its pretraining.
std::vector<int32_t> append_added_tokens(std::vector<std::string>& pieces, const fs::path& folder, int rows) {
  ListedVocabulary all{.pieces = std::move(pieces)};
  std::string not_found;
  const AddedTokens tokens = tokens_with_ids(folder);
  const int64_t most = int64_t(all.pieces.size()) + int64_t(tokens.size()) + most_unused;
  for (const auto& [id, text] : tokens) {
    if (id < int64_t(all.pieces.size()) || id >= rows || std::ranges::count(all.pieces, text) > 0) continue;
    require(id < most, "{}: its added token {} has the id {}, expected less than {} after {} pieces", folder.string(),
            text, id, most, all.pieces.size());
    fill_up(all, int(id));
    all.pieces.push_back(text);
    if (text.starts_with(">>") && text.ends_with("<<")) continue;
    all.special.control.push_back(int32_t(id));
    if (!text.starts_with("<extra_id_") && text != "<pad>") not_found += (not_found.empty() ? "" : ", ") + text;
  }
  if (!not_found.empty())
    log_warning("{}: these added tokens are not found in text, nor shown: {}", folder.string(),
                beginning_of(not_found));
  pieces = std::move(all.pieces);
  return std::move(all.special.control);
}

Vocabularies marian_vocabularies(const fs::path& folder, ModelConfig& m) {
  const auto load = [&](const fs::path& list, const char* model, int rows) {
    auto pieces = pieces_of_json(read_regular_file(list), list);
    m.special.unk = unknown_piece(pieces, list);
    std::vector<int32_t> control = append_added_tokens(pieces, folder, rows);
    return vocabulary_of(m, std::move(pieces), std::move(control), sentencepiece_of(folder, model), rows, list);
  };
  const fs::path source = folder / "vocab.json", target = folder / "target_vocab.json";
  Vocabularies v{load(source, "source.spm", m.source_vocabulary),
                 load(is_there(target) ? target : source, "target.spm", m.target_vocabulary)};
  if (has_languages_in_source(v.source)) m.generation.target_language = TargetLanguage::source;
  return v;
}

void refuse_byt5(const fs::path& folder, const JsonObject& config) {
  const JsonObject settings(folder / "tokenizer_config.json");
  for (const JsonObject* file : {&config, &settings})
    if (file->get("tokenizer_class", std::string()) == "ByT5Tokenizer")
      throw Error(fmt::format("{}: tokenizer_class is ByT5Tokenizer, which dragoman does not support", file->path()),
                  "a model of this class reads bytes; T5, mT5 and MADLAD-400 are supported");
}

// The SentencePiece model's own ids. Rows of the table beyond them are added tokens, or unused.
Vocabularies t5_vocabularies(const fs::path& folder, const JsonObject& config, ModelConfig& m) {
  refuse_byt5(folder, config);
  const SplittingModel model = sentencepiece_of(folder, "spiece.model");
  const Vocabulary own = Vocabulary::from_bytes(model.bytes, model.path);
  std::vector<std::string> pieces;
  for (int id = 0; id < own.size(); ++id) pieces.push_back(own.piece(id));
  m.special.unk = unknown_piece(pieces, model.path);
  std::vector<int32_t> control = append_added_tokens(pieces, folder, m.source_vocabulary);
  const Vocabulary both =
      vocabulary_of(m, std::move(pieces), std::move(control), model, m.source_vocabulary, model.path);
  return {both, both};
}

// Older versions have a list without ids, whose tokens follow the `pieces`. Version 5 saves M2M100 with the name of a
// list that only its tokenizer has.
AddedTokens tokens_after(int64_t pieces, const fs::path& folder) {
  AddedTokens tokens = tokens_with_ids(folder);
  if (!tokens.empty() && tokens.rbegin()->first >= pieces) return tokens;
  const JsonObject special(folder / "special_tokens_map.json"), settings(folder / "tokenizer_config.json");
  int64_t next = pieces;
  if (special.has("additional_special_tokens") && special.root()["additional_special_tokens"].is_array()) {
    for (const json& t : special.root()["additional_special_tokens"])
      add(tokens, next++, t.is_object() ? t.value("content", json()) : t, special.path());
    return tokens;
  }
  const auto codes = settings.get("language_codes", std::string());
  for (const auto& [name, languages] : {std::pair("m2m100", m2m100_languages), {"wmt21", wmt21_languages}})
    if (codes == name)
      for (const std::string_view language : split_at_blanks(languages))
        tokens.emplace(next++, fmt::format("__{}__", language));
  return tokens;
}

// fairseq's ids: <s>, <pad>, </s> and <unk>, then the pieces that follow <unk>, <s> and </s> in the model.
std::vector<std::string> pieces_of_fairseq(const SplittingModel& sentencepiece) {
  const Vocabulary model = Vocabulary::from_bytes(sentencepiece.bytes, sentencepiece.path);
  std::vector<std::string> pieces = {"<s>", "<pad>", "</s>", "<unk>"};
  for (int id = 3; id < model.size(); ++id) pieces.push_back(model.piece(id));
  return pieces;
}

// One vocabulary for all languages, with one piece per language.
Vocabularies multilingual_vocabularies(const fs::path& folder, ModelConfig& m) {
  const SplittingModel sentencepiece = sentencepiece_of(folder, "sentencepiece.bpe.model");
  const fs::path list = folder / "vocab.json";
  auto pieces = is_there(list) ? pieces_of_json(read_regular_file(list), list) : pieces_of_fairseq(sentencepiece);
  m.special.unk = unknown_piece(pieces, list);
  std::vector<int32_t> control;
  for (const auto& [id, text] : tokens_after(int64_t(pieces.size()), folder)) {
    if (id < int64_t(pieces.size())) continue;  // <s> and the like
    require(id == int64_t(pieces.size()), "{}: its added token {} has the id {}, expected {}", folder.string(), text,
            id, pieces.size());
    control.push_back(int32_t(id));
    pieces.push_back(text);
  }
  if (control.empty())
    throw Error(fmt::format("{}: no file names its languages, expected tokenizer.json or special_tokens_map.json",
                            folder.string()),
                "copy one of them from where the model was published");
  const Vocabulary both =
      vocabulary_of(m, std::move(pieces), std::move(control), sentencepiece, m.source_vocabulary, folder.string());
  const JsonObject settings(folder / "tokenizer_config.json");
  const bool last = settings.get("legacy_behaviour", false);  // NLLB's first tokenizer
  m.generation.source_language = last ? SourceLanguage::last : SourceLanguage::first;
  m.generation.target_language = TargetLanguage::target;
  return {both, both};
}

Vocabularies vocabularies_of_class(const fs::path& folder, const JsonObject& config, ModelConfig& model) {
  switch (huggingface_class(config)) {
    case HuggingFaceClass::marian:
      return marian_vocabularies(folder, model);
    case HuggingFaceClass::t5:
      return t5_vocabularies(folder, config, model);
    case HuggingFaceClass::m2m100:
    case HuggingFaceClass::mbart:
      break;
  }
  return multilingual_vocabularies(folder, model);
}

// What each translation begins with, which is not shown. Models of MarianMT and T5 may have it too, but not besides
// tags: a configuration has one target language, which is a tag of the source or begins the target.
void set_forced_piece(GenerationConfig& g, const Vocabulary& source, const JsonObject& generation) {
  const int id = generation.get("forced_bos_token_id", -1);
  if (id < 0) return;
  if (g.target_language != TargetLanguage::target && has_tags(source))
    return log_warning("{}: forced_bos_token_id {} is ignored, as lines of this model begin with the language",
                       generation.path(), id);
  g.target_language = TargetLanguage::target;
  g.target_language_id = id;
}

}  // namespace

Vocabularies huggingface_vocabularies(const fs::path& folder, const JsonObject& config, const JsonObject& generation,
                                      ModelConfig& model) {
  Vocabularies vocabularies = vocabularies_of_class(folder, config, model);
  warn_if_short(vocabularies.source, folder);
  if (is_there(folder / "target_vocab.json")) warn_if_short(vocabularies.target, folder / "target_vocab.json");
  set_forced_piece(model.generation, vocabularies.source, generation);
  return vocabularies;
}

}  // namespace dragoman
