#include "interop/joeynmt_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "interop/splitting.h"

namespace dragoman {
namespace {

using Pieces = std::vector<std::string>;

/// What has a meaning of its own, in the order in which it begins every vocabulary.
struct Symbols {
  Pieces special = {};  // unknown, padding, beginning, end, perhaps a separator of prompts
  Pieces languages = {};
};

Symbols symbols_of(const YamlFields& data) {
  const auto given = data.inside("special_symbols");
  Symbols symbols;
  for (const auto& [name, usual, usual_id] :
       {std::tuple("unk", "<unk>", 0), {"pad", "<pad>", 1}, {"bos", "<s>", 2}, {"eos", "</s>", 3}}) {
    const std::string token = fmt::format("{}_token", name), number = fmt::format("{}_id", name);
    symbols.special.push_back(given ? given->text(token, usual) : usual);
    const int id = given ? given->number(number, usual_id) : usual_id;
    require(id == usual_id, "{}: {} is {}, expected {}, which is where JoeyNMT puts this token", given->where(), number,
            id, usual_id);
  }
  if (given && given->has("sep_token")) symbols.special.push_back(given->text("sep_token", ""));
  if (given) symbols.languages = given->texts("lang_tags");
  return symbols;
}

// The characters at which Python's str.splitlines() ends a line, in UTF-8; "\r\n" is one end.
size_t line_end_at(std::string_view text) {
  for (const std::string_view end :
       {"\r\n", "\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"})
    if (text.starts_with(end)) return end.size();
  return 0;
}

Pieces lines_of_python(std::string_view text) {
  Pieces lines;
  for (bool begun = false; !text.empty();) {
    if (!begun) lines.emplace_back();
    const size_t end = line_end_at(text);
    begun = end == 0;
    if (begun) lines.back() += text.front();
    text.remove_prefix(std::max<size_t>(end, 1));
  }
  return lines;
}

Pieces pieces_of(const Symbols& symbols, const std::string& path) {
  Pieces pieces;
  std::set<std::string> known;
  for (const Pieces& part : {symbols.special, symbols.languages, lines_of_python(read_regular_file(path))})
    for (const std::string& piece : part)
      if (known.insert(piece).second) pieces.push_back(piece);
  return pieces;
}

void check_tokenizer(const YamlFields& side) {
  const std::string level = side.text("level", "");
  require(level == "word" || level == "bpe", "{}: level is {}, expected word or bpe", side.where(), level);
  if (level == "word") return;
  const std::string type = side.text("tokenizer_type", side.text("bpe_type", "sentencepiece"));
  require(type == "sentencepiece" || type == "subword-nmt",
          "{}: tokenizer_type is {}, expected sentencepiece or subword-nmt", side.where(), type);
  const YamlFields tokenizer = side.section("tokenizer_cfg");
  const char* file = type == "sentencepiece" ? "model_file" : "codes";
  require(tokenizer.has(file), "{} has no {}", tokenizer.where(), file);
  const std::string separator = tokenizer.text("separator", "@@");
  require(separator == "@@", "{}: separator is {}, expected @@", tokenizer.where(), separator);
}

// dragoman does not prepare text as JoeyNMT can.
void warn_of_preparation(const YamlFields& side) {
  Pieces steps;
  for (const char* step : {"lowercase", "normalize"})
    if (side.flag(step)) steps.emplace_back(step);
  if (const auto tokenizer = side.inside("tokenizer_cfg");
      tokenizer && tokenizer->text("pretokenizer", "none") != "none")
    steps.push_back("pretokenizer: " + tokenizer->text("pretokenizer", ""));
  if (!steps.empty())
    log_warning("{}: its text was prepared ({}), which dragoman does not do: prepare the input in the same way",
                side.where(), fmt::join(steps, ", "));
}

Splitting splitting_of(const YamlFields& side, const std::string& path) {
  if (path.empty()) return {};
  Splitting splitting = load_splitting(path);
  if (side.text("tokenizer_type", side.text("bpe_type", "sentencepiece")) == "subword-nmt")
    splitting.kind = SegmentationKind::bpe;
  return splitting;
}

}  // namespace

std::string joeynmt_list(const JoeyNmtFiles& files, const std::vector<std::string>& vocabs, size_t side) {
  const bool given = !vocabs.empty() && vocabs[side].ends_with(".txt");
  return given ? vocabs[side] : files.texts[side].vocabulary;
}

Vocabularies joeynmt_vocabularies(const JoeyNmtFiles& files, const std::vector<std::string>& vocabs, ModelConfig& m) {
  const YamlFields data = files.options.section("data");
  const Symbols symbols = symbols_of(data);
  m.special = {.unk = 0, .bos = 2, .eos = 3, .pad = 1};
  const int begin = 4, end = int(symbols.special.size() + symbols.languages.size());
  for (int id = begin; id < end; ++id) m.generation.suppressed.push_back(id);
  std::vector<Vocabulary> sides;
  for (size_t side = 0; side < 2; ++side) {
    const YamlFields options = data.section(side == 0 ? "src" : "trg");
    require(!options.flag("has_prompt"), "{}: has_prompt is set, which dragoman does not support", options.where());
    check_tokenizer(options);
    const std::string list = joeynmt_list(files, vocabs, side);
    const bool lists = !vocabs.empty() && vocabs[side] == list;
    Splitting splitting =
        vocabs.empty() || lists ? splitting_of(options, files.texts[side].tokenizer) : load_splitting(vocabs[side]);
    if (side == 0) warn_unless_split(splitting, options.where()), warn_of_preparation(options);
    ListedVocabulary v = listed_vocabulary(pieces_of(symbols, list), std::move(splitting), m.special);
    v.special.control.assign(m.generation.suppressed.begin(), m.generation.suppressed.end());
    for (const int id : {m.special.unk, m.special.pad, m.special.bos, m.special.eos})
      require(v.pieces[size_t(id)] == symbols.special[size_t(id)], "{}: two of its special symbols are the same",
              data.where());
    sides.push_back(Vocabulary::from_list(std::move(v), list));
  }
  m.source_vocabulary = sides[0].size(), m.target_vocabulary = sides[1].size();
  return {sides[0], sides[1]};
}

}  // namespace dragoman
