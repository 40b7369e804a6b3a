#include "interop/ctranslate2_vocabulary.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json_text.h"
#include "interop/languages.h"
#include "interop/splitting.h"
#include "vocab/listed_vocabulary.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

using nlohmann::json;
using Pieces = std::vector<std::string>;

Pieces pieces_of_list(const std::string& text, const std::string& name) {
  const json list = parse_json(text);
  require(list.is_array(), "{} is not a list of tokens", name);
  Pieces pieces;
  for (const json& token : list) {
    require(token.is_string(), "{}: token {} is {}, expected text", name, pieces.size(), token.dump());
    pieces.push_back(token.get<std::string>());
  }
  return pieces;
}

Pieces load_list(const FileSet& folder, const std::string& name) {
  const std::string path = folder.path_of(name);
  return name.ends_with(".json") ? pieces_of_list(folder.text(name), path) : pieces_of_lines(folder.text(name), path);
}

int id_of(const Pieces& pieces, const std::string& piece) {
  const auto found = std::ranges::find(pieces, piece);
  return found == pieces.end() ? -1 : int(found - pieces.begin());
}

// One such piece may be ordinary text.
bool names_languages(const Pieces& pieces) { return std::ranges::count_if(pieces, names_language) > 1; }

Vocabulary vocabulary(const Pieces& pieces, const SpecialIds& special, Splitting splitting, bool multilingual,
                      const std::string& where) {
  ListedVocabulary v = listed_vocabulary(pieces, std::move(splitting), special);
  for (size_t id = 0; id < pieces.size(); ++id)
    if (multilingual && names_language(pieces[id])) v.special.control.push_back(int32_t(id));
  return Vocabulary::from_list(std::move(v), where);
}

// A list may contain a token twice; the second one is never used, so it gets another name.
void name_apart(Pieces& pieces) {
  std::map<std::string, int> seen;
  for (std::string& piece : pieces)
    if (const int before = seen[piece]++; before > 0) piece = fmt::format("<{} {}>", piece, before);
}

SpecialIds special_ids(const Pieces& pieces, const JsonObject& config, const std::string& where) {
  const auto id = [&](const char* key, const char* otherwise) {
    return id_of(pieces, config.get(key, std::string(otherwise)));
  };
  const int blank = id_of(pieces, "<blank>");
  SpecialIds special{.unk = id("unk_token", "<unk>"),
                     .bos = id("bos_token", "<s>"),
                     .eos = id("eos_token", "</s>"),
                     .pad = blank >= 0 ? blank : id_of(pieces, "<pad>")};
  if (special.bos == special.pad) special.bos = -1;  // T5 has no <s>: its converter names <pad>
  const auto start = config.get("decoder_start_token", std::string());
  if (special.unk >= 0 && id_of(pieces, start) == special.unk) {  // MADLAD-400, whose <s> pads
    if (special.pad < 0) special.pad = special.bos;
    special.bos = special.unk;
  }
  require(
      special.unk >= 0 && special.eos >= 0, "{}: a token list has no {}", where,
      special.unk < 0 ? config.get("unk_token", std::string("<unk>")) : config.get("eos_token", std::string("</s>")));
  return special;
}

}  // namespace

std::array<std::string, 2> ctranslate2_lists(const FileSet& folder) {
  if (const auto shared = folder.first_of({"shared_vocabulary.json", "shared_vocabulary.txt"}))
    return {*shared, *shared};
  const auto source = folder.first_of({"source_vocabulary.json", "source_vocabulary.txt"}),
             target = folder.first_of({"target_vocabulary.json", "target_vocabulary.txt"});
  require(source && target, "{} has no shared_vocabulary.json, nor source_vocabulary.json and target_vocabulary.json",
          folder.path());
  return {*source, *target};
}

Vocabularies ctranslate2_vocabularies(const FileSet& folder, const FileSet& texts,
                                      const std::vector<std::string>& vocabs, const JsonObject& config,
                                      ModelConfig& m) {
  const auto lists = ctranslate2_lists(folder);
  Pieces source = load_list(folder, lists[0]), target = lists[0] == lists[1] ? source : load_list(folder, lists[1]);
  name_apart(source), name_apart(target);
  m.special = special_ids(target, config, folder.path());
  const SpecialIds other = special_ids(source, config, folder.path());
  require(other == m.special, "{}: its vocabularies number <unk>, <s> and </s> differently ({}, {}, {} and {}, {}, {})",
          folder.path(), other.unk, other.bos, other.eos, m.special.unk, m.special.bos, m.special.eos);
  std::array<Splitting, 2> splitting = {find_splitting(texts, "source"), find_splitting(texts, "target")};
  for (size_t side = 0; side < vocabs.size(); ++side) splitting[side] = load_splitting(vocabs[side]);
  warn_unless_split(splitting[0], folder.path());
  m.source_vocabulary = int(source.size()), m.target_vocabulary = int(target.size());
  // T5 names languages in the source; a piece such as fr_FR is text there.
  const bool multilingual = m.positions != Positions::relative_bias && names_languages(target);
  if (multilingual) {
    m.generation.source_language = SourceLanguage::first;
    m.generation.target_language = TargetLanguage::target;
  }
  const Vocabulary of_source = vocabulary(source, m.special, splitting[0], multilingual, folder.path());
  const bool same = source == target && splitting[0].model == splitting[1].model;
  Vocabularies both{of_source,
                    same ? of_source : vocabulary(target, m.special, splitting[1], multilingual, folder.path())};
  if (m.generation.target_language == TargetLanguage::none && has_languages_in_source(both.source))
    m.generation.target_language = TargetLanguage::source;
  return both;
}

}  // namespace dragoman
