#include "interop/huggingface_vocabulary.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/json_text.h"
#include "base/symbolic_links.h"
#include "interop/languages.h"
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

// The largest accepted number of embedding rows without a piece: some folders round sizes up.
constexpr int64_t most_unused = 1 << 16;

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

Vocabularies marian_vocabularies(const fs::path& folder, ModelConfig& m) {
  const auto load = [&](const fs::path& list, const char* model, int rows) {
    auto pieces = pieces_of_json(read_regular_file(list), list);
    m.special.unk = unknown_piece(pieces, list);
    return vocabulary_of(m, std::move(pieces), {}, sentencepiece_of(folder, model), rows, list);
  };
  const fs::path source = folder / "vocab.json", target = folder / "target_vocab.json";
  Vocabularies v{load(source, "source.spm", m.source_vocabulary),
                 load(is_there(target) ? target : source, "target.spm", m.target_vocabulary)};
  if (has_languages_in_source(v.source)) m.generation.target_language = TargetLanguage::source;
  return v;
}

// The SentencePiece model's own ids. Rows of the table beyond them are T5's <extra_id_0> and the like, or unused.
Vocabularies t5_vocabularies(const fs::path& folder, ModelConfig& m) {
  const SplittingModel model = sentencepiece_of(folder, "spiece.model");
  const Vocabulary own = Vocabulary::from_bytes(model.bytes, model.path);
  std::vector<std::string> pieces;
  for (int id = 0; id < own.size(); ++id) pieces.push_back(own.piece(id));
  m.special.unk = unknown_piece(pieces, model.path);
  const Vocabulary both = vocabulary_of(m, std::move(pieces), {}, model, m.source_vocabulary, model.path);
  return {both, both};
}

/// Tokens beyond the pieces of the vocabulary, such as languages, by id.
using AddedTokens = std::map<int64_t, std::string>;

void add(AddedTokens& tokens, const json& id, const json& text, const std::string& where) {
  require(id.is_number_integer() && text.is_string(), "{}: {} is the id of {}, expected a number and a text", where,
          id.dump(), text.dump());
  tokens.emplace(id.get<int64_t>(), text.get<std::string>());
}

// Different versions of transformers write them to different files; the first file that exists is used. The last kind
// of list has no ids: its pieces follow the others.
AddedTokens added_tokens(const fs::path& folder, int64_t next) {
  AddedTokens tokens;
  const JsonObject tokenizer(folder / "tokenizer.json"), added(folder / "added_tokens.json"),
      settings(folder / "tokenizer_config.json"), special(folder / "special_tokens_map.json");
  if (tokenizer.has("added_tokens") && tokenizer.root()["added_tokens"].is_array()) {
    for (const json& t : tokenizer.root()["added_tokens"])
      if (t.is_object()) add(tokens, t.value("id", json()), t.value("content", json()), tokenizer.path());
  } else if (!added.root().empty()) {
    for (const auto& [text, id] : added.root().items()) add(tokens, id, text, added.path());
  } else if (settings.has("added_tokens_decoder") && settings.root()["added_tokens_decoder"].is_object()) {
    for (const auto& [id, t] : settings.root()["added_tokens_decoder"].items())
      if (t.is_object()) add(tokens, parse_json(id), t.value("content", json()), settings.path());
  } else if (special.has("additional_special_tokens") && special.root()["additional_special_tokens"].is_array()) {
    for (const json& t : special.root()["additional_special_tokens"])
      add(tokens, next++, t.is_object() ? t.value("content", json()) : t, special.path());
  }
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
Vocabularies multilingual_vocabularies(const fs::path& folder, const JsonObject& generation, ModelConfig& m) {
  const SplittingModel sentencepiece = sentencepiece_of(folder, "sentencepiece.bpe.model");
  const fs::path list = folder / "vocab.json";
  auto pieces = is_there(list) ? pieces_of_json(read_regular_file(list), list) : pieces_of_fairseq(sentencepiece);
  m.special.unk = unknown_piece(pieces, list);
  std::vector<int32_t> control;
  for (const auto& [id, text] : added_tokens(folder, int64_t(pieces.size()))) {
    if (id < int64_t(pieces.size())) continue;  // <s> and the like
    require(id == int64_t(pieces.size()), "{}: its added token {} has the id {}, expected {}", folder.string(), text,
            id, pieces.size());
    control.push_back(int32_t(id));
    pieces.push_back(text);
  }
  require(!control.empty(), "{}: no file names its languages, expected tokenizer.json or special_tokens_map.json",
          folder.string());
  const Vocabulary both =
      vocabulary_of(m, std::move(pieces), std::move(control), sentencepiece, m.source_vocabulary, folder.string());
  const JsonObject settings(folder / "tokenizer_config.json");
  const bool last = settings.get("legacy_behaviour", false);  // NLLB's first tokenizer
  m.generation.source_language = last ? SourceLanguage::last : SourceLanguage::first;
  m.generation.target_language = TargetLanguage::target;
  m.generation.target_language_id = generation.get("forced_bos_token_id", -1);
  return {both, both};
}

}  // namespace

Vocabularies huggingface_vocabularies(const fs::path& folder, const JsonObject& config, const JsonObject& generation,
                                      ModelConfig& model) {
  switch (huggingface_class(config)) {
    case HuggingFaceClass::marian:
      return marian_vocabularies(folder, model);
    case HuggingFaceClass::t5:
      return t5_vocabularies(folder, model);
    case HuggingFaceClass::m2m100:
    case HuggingFaceClass::mbart:
      break;
  }
  return multilingual_vocabularies(folder, generation, model);
}

}  // namespace dragoman
