#include "interop/splitting.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"

namespace dragoman {
namespace {

constexpr const char* argos_merges = "bpe.model";  // of Argos Translate
constexpr std::string_view usual_merges[] = {"bpecodes", "code", "codes", "bpe.codes"};

bool are_merges(const std::string& name, const std::string& text) {
  return text.starts_with("#version:") || std::ranges::count(usual_merges, name) > 0 || name.ends_with(".bpe") ||
         name.ends_with("bpe.model.txt");
}

// fastBPE writes a count after each merge ("t h</w> 512"), and no "#version: 0.2" line as subword-nmt does.
std::string without_counts(const std::string& merges) {
  const std::string first = merges.substr(0, merges.find('\n'));
  if (first.starts_with("#version") || std::ranges::count(first, ' ') != 2) return merges;
  std::string pairs = "#version: 0.2\n";
  for (size_t from = 0; from < merges.size();) {
    const size_t end = std::min(merges.find('\n', from), merges.size());
    const std::string line = merges.substr(from, end - from);
    pairs += line.substr(0, line.rfind(' ')) + '\n';
    from = end + 1;
  }
  return pairs;
}

Splitting splitting_of(std::string text, bool merges, std::string path) {
  if (merges) return {SegmentationKind::bpe, without_counts(text), std::move(path)};
  return {SegmentationKind::sentencepiece, std::move(text), std::move(path)};
}

}  // namespace

Splitting load_splitting(const std::string& path) {
  std::string text = read_regular_file(path);
  const bool merges = are_merges(std::filesystem::path(path).filename(), text);
  return splitting_of(std::move(text), merges, path);
}

std::vector<std::string> tokenizer_names(const std::string& side) {
  std::vector<std::string> names = {side + ".spm",  "sentencepiece.model", "sentencepiece.bpe.model",
                                    "spiece.model", "spm.model",           side + ".bpe"};
  names.insert(names.end(), std::begin(usual_merges), std::end(usual_merges));
  names.emplace_back(argos_merges);
  return names;
}

Splitting find_splitting(const FileSet& texts, const std::string& side) {
  for (const std::string& name : tokenizer_names(side))
    if (texts.has(name)) {
      std::string text = texts.text(name);
      const bool merges = are_merges(name, text) || name == argos_merges;
      return splitting_of(std::move(text), merges, texts.path_of(name));
    }
  return {};
}

void warn_unless_split(const Splitting& splitting, const std::string& where) {
  if (splitting.kind == SegmentationKind::tokens)
    log_warning(
        "{} has no tokenizer, so its input must already be split into tokens (--vocabs names SentencePiece models)",
        where);
}

void warn_if_short(const Vocabulary& vocabulary, const std::string& list) {
  constexpr int usual = 128;  // a table of T5 has as many rows more than its SentencePiece model has pieces
  int added = 0;
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    added += vocabulary.is_control(id) && vocabulary.piece(id).starts_with(unused_piece);
  if (added > usual)
    log_warning(
        "{} lists {} of the model's {} pieces; the other {} are made up and never used: expected the list that the "
        "model was trained with",
        list, vocabulary.size() - added, vocabulary.size(), added);
}

ListedVocabulary listed_vocabulary(std::vector<std::string> pieces, Splitting splitting, const SpecialIds& special) {
  ListedVocabulary v;
  v.segmentation = splitting.kind;
  v.pieces = std::move(pieces);
  v.model = std::move(splitting.model);
  v.model_name = std::move(splitting.path);
  v.special.unk = special.unk, v.special.bos = special.bos;
  v.special.eos = special.eos, v.special.pad = special.pad;
  return v;
}

}  // namespace dragoman
