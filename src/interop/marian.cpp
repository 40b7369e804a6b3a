#include "interop/marian.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/symbolic_links.h"
#include "interop/marian_bin.h"
#include "interop/marian_config.h"
#include "interop/marian_files.h"
#include "interop/marian_names.h"
#include "interop/npz.h"
#include "interop/splitting.h"
#include "interop/weight_mapping.h"
#include "model/validate.h"
#include "vocab/listed_vocabulary.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

// The browser forks store fixed factors for quantising activations; dragoman computes one per row instead.
void ignore_activation_factors(WeightMapping& weights, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (name.ends_with("_QuantMultA")) weights.ignore(name);
}

// Marian makes lists of all words of a text, and reads only the most frequent words of a longer list.
std::vector<std::string> first_pieces(std::vector<std::string> pieces, size_t limit, const std::string& path) {
  if (pieces.size() > limit) {
    log_warning("{}: only its first {} of {} pieces are used, as dim-vocabs of the model says", path, limit,
                pieces.size());
    pieces.resize(limit);
  }
  return pieces;
}

// The vocabulary file lists the pieces by id; a separate file is the tokenizer. OPUS-MT folders have a SentencePiece
// model or BPE merges beside the list (source.spm or source.bpe); without one, the text must already be tokenised.
// Pieces of the SentencePiece model that are not in the list are never used.
Vocabulary load_vocabulary(const std::string& path, const char* side, int rows, bool cut) {
  if (!is_piece_list(path)) return Vocabulary::load(path);
  ListedVocabulary v;
  v.pieces = pieces_of_file(read_regular_file(path), path);
  if (cut) v.pieces = first_pieces(std::move(v.pieces), size_t(rows), path);
  v.special = marian_special(v.pieces);
  if (rows <= int64_t(v.pieces.size()) + most_unused) fill_up(v, rows);  // take_special_ids refuses others
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const auto& [kind, ending] :
       {std::pair(SegmentationKind::sentencepiece, ".spm"), std::pair(SegmentationKind::bpe, ".bpe")}) {
    const std::string splits = folder / (side + std::string(ending));
    if (!is_there(splits)) continue;
    v.segmentation = kind;
    v.model = read_regular_file(splits);
    v.model_name = splits;
    break;
  }
  if (v.segmentation != SegmentationKind::sentencepiece)
    log_info("{}: its {} text must be tokenised as in the model's training, which dragoman does not do", path, side);
  return Vocabulary::from_list(std::move(v), path);
}

Vocabularies load_vocabularies(const MarianFiles& files, const ModelConfig& c, const std::vector<int>& dim_vocabs) {
  require(files.vocabs.size() == 2, "{}: a model needs a source and a target vocabulary, found {}", files.model,
          files.vocabs.size());
  const auto load = [&](size_t side, const char* name, int rows) {
    return load_vocabulary(files.vocabs[side], name, rows, side < dim_vocabs.size() && dim_vocabs[side] == rows);
  };
  Vocabulary source = load(0, "source", c.source_vocabulary);
  const bool same = files.vocabs[1] == files.vocabs[0] && !is_piece_list(files.vocabs[0]);
  Vocabulary target = same ? source : load(1, "target", c.target_vocabulary);
  warn_if_short(source, files.vocabs[0]);
  if (files.vocabs[1] != files.vocabs[0]) warn_if_short(target, files.vocabs[1]);
  return {std::move(source), std::move(target)};
}

void set_vocabulary_sizes(ModelConfig& c, const WeightMapping& weights) {
  const auto rows = [&](const char* own) {
    const ForeignTensor& table = weights.get(c.embeddings.ties_source() ? "Wemb" : own);
    require(table.shape.size() == 2, "{}: {} is not a matrix", weights.path(), table.name);
    constexpr int most = std::numeric_limits<int>::max();
    const int64_t pieces = table.shape[0];
    require(pieces >= 1 && pieces <= most && table.shape[1] == c.dim, "{}: {} is ({}), expected 1 to {} rows of {}",
            weights.path(), table.name, fmt::join(table.shape, ","), most, c.dim);
    return int(pieces);
  };
  c.source_vocabulary = rows("encoder_Wemb");
  c.target_vocabulary = rows("decoder_Wemb");
}

void take_special_ids(ModelConfig& c, const Vocabularies& v, const WeightMapping& weights,
                      const std::vector<std::string>& lists) {
  const Vocabulary& target = v.target;
  c.special = {target.unk(), target.bos(), target.eos(), target.pad()};
  c.generation.suppressed = control_bytes(target);
  for (const auto& [side, size, found, list] : {std::tuple("source", c.source_vocabulary, v.source.size(), lists[0]),
                                                std::tuple("target", c.target_vocabulary, target.size(), lists[1])})
    if (size != found)
      throw Error(
          fmt::format("{}: its {} embedding has {} rows, but the vocabulary has {} pieces ({})", weights.path(), side,
                      size, found, list),
          "convert it with the vocabularies that it was trained with: dragoman convert --vocabs SOURCE TARGET …");
}

}  // namespace

std::optional<ConvertedModel> read_marian(const std::string& path, const std::vector<std::string>& vocabs) {
  std::optional<MarianFiles> files = find_marian_files(path);
  if (!files) return std::nullopt;
  std::vector<ForeignTensor> tensors = files->model.ends_with(".npz") || is_marian_npz(files->model)
                                           ? read_npz(files->model)
                                           : read_marian_bin(files->model);
  std::vector<std::string> names;
  for (const ForeignTensor& t : tensors) names.push_back(t.name);
  WeightMapping weights(files->model, std::move(tensors));
  if (!vocabs.empty()) files->vocabs = vocabs;
  if (files->vocabs.empty()) files->vocabs = vocabularies_beside(files->model);
  const std::string options = text_of(weights.get(marian_options_tensor));
  ModelConfig config = marian_config(options, files->model);
  set_vocabulary_sizes(config, weights);
  ConvertedModel model{config, load_vocabularies(*files, config, marian_dim_vocabs(options, files->model)), {}};
  take_special_ids(model.config, model.vocabularies, weights, files->vocabs);
  validate(model.config, files->model);
  weights.ignore(marian_options_tensor);
  ignore_activation_factors(weights, names);
  MarianNames(weights, model.config, marian_decoder_layers(options, files->model)).all();
  model.weights = weights.take();
  return model;
}

}  // namespace dragoman
