#include "interop/marian.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "interop/marian_bin.h"
#include "interop/marian_config.h"
#include "interop/marian_files.h"
#include "interop/npz.h"
#include "interop/weight_mapping.h"
#include "model/validate.h"
#include "vocab/listed_vocabulary.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

constexpr const char* options_tensor = "special:model.yml";

/// Maps names of weights; `ours` and `theirs` are those of a layer or of a part of one.
class Mapping {
 public:
  Mapping(WeightMapping& weights, const ModelConfig& config) : w_(weights), c_(config) {}

  void embeddings() {
    const bool shared = c_.embeddings.ties_source();
    const std::string source = shared ? "Wemb" : "encoder_Wemb", target = shared ? "Wemb" : "decoder_Wemb";
    const bool one = shared && c_.embeddings.ties_output();
    table(one ? "embedding" : "source_embedding", source);
    if (!shared) table("target_embedding", target);
    if (!c_.embeddings.ties_output()) output_matrix();
    if (c_.embeddings.output_bias) w_.vector("output.bias", "decoder_ff_logit_out_b");
  }

  void encoder() {
    side_norms("encoder");
    for (int l = 0; l < c_.encoder_layers; ++l) {
      const std::string ours = fmt::format("encoder.{}.", l), theirs = fmt::format("encoder_l{}_", l + 1);
      attention(ours + "self_attention", theirs + "self");
      feed_forward(ours + "feed_forward", theirs + "ffn");
    }
  }

  void decoder() {
    side_norms("decoder");
    for (int l = 0; l < c_.decoder_layers; ++l) {
      if (!c_.tied_decoder_layers.empty() && c_.tied_decoder_layers[size_t(l)] != l) continue;
      const std::string ours = fmt::format("decoder.{}.", l), theirs = fmt::format("decoder_l{}_", l + 1);
      autoregression(ours, theirs);
      attention(ours + "cross_attention", theirs + "context");
      feed_forward(ours + "feed_forward", theirs + "ffn");
    }
  }

 private:
  bool pre() const { return c_.norm == NormPlacement::pre; }

  void linear(const std::string& ours, const std::string& weight, const std::string& bias) {
    w_.matrix(ours + ".weight", weight, MatrixRows::inputs);
    w_.vector(ours + ".bias", bias);
  }
  void norm(const std::string& ours, const std::string& theirs, const char* suffix) {
    w_.vector(ours + ".weight", theirs + "_ln_scale" + suffix);
    w_.vector(ours + ".bias", theirs + "_ln_bias" + suffix);
  }
  void sublayer_norm(const std::string& ours, const std::string& theirs) {
    norm(ours + "_norm", theirs, pre() ? "_pre" : "");
  }
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs, MatrixRows::outputs);
  }
  // Older files have it transposed.
  void output_matrix() {
    if (w_.has("decoder_ff_logit_out_W"))
      w_.matrix("output.weight", "decoder_ff_logit_out_W", MatrixRows::inputs);
    else
      w_.matrix("output.weight", "decoder_ff_logit_out_Wt", MatrixRows::outputs);
  }
  void side_norms(const std::string& side) {
    if (c_.embedding_norm) norm(side + ".embedding_norm", side + "_emb", "_pre");
    if (c_.has_final_norm()) norm(side + ".norm", side + "_top", "");
  }

  void attention(const std::string& ours, const std::string& theirs) {
    for (const auto& [role, letter] : {std::pair("query", 'q'), {"key", 'k'}, {"value", 'v'}})
      linear(fmt::format("{}.{}", ours, role), fmt::format("{}_W{}", theirs, letter),
             fmt::format("{}_b{}", theirs, letter));
    if (c_.attention.projects_result) linear(ours + ".output", theirs + "_Wo", theirs + "_bo");
    sublayer_norm(ours, theirs + "_Wo");
  }
  void feed_forward(const std::string& ours, const std::string& theirs) {
    linear(ours + ".up", theirs + "_W1", theirs + "_b1");
    linear(ours + ".down", theirs + "_W2", theirs + "_b2");
    sublayer_norm(ours, theirs + "_ffn");
  }
  void autoregression(const std::string& ours, const std::string& theirs) {
    switch (c_.autoregression) {
      case Autoregression::self_attention:
        return attention(ours + "self_attention", theirs + "self");
      case Autoregression::average_attention:
        return average_attention(ours + "average_attention", theirs + "aan");
      case Autoregression::rnn:
        return ssru(ours + "rnn", theirs + "rnn");
    }
  }
  void average_attention(const std::string& ours, const std::string& theirs) {
    linear(ours + ".feed_forward.up", theirs + "_W1", theirs + "_b1");
    linear(ours + ".feed_forward.down", theirs + "_W2", theirs + "_b2");
    if (c_.average.gates) {
      linear(ours + ".input_gate", theirs + "_Wi", theirs + "_bi");
      linear(ours + ".forget_gate", theirs + "_Wf", theirs + "_bf");
    }
    sublayer_norm(ours, theirs + "_ffn");
  }
  // The product of the state has no bias there.
  void ssru(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".state.weight", theirs + "_W", MatrixRows::inputs);
    w_.zeros(ours + ".state.bias", c_.dim);
    linear(ours + ".forget_gate", theirs + "_Wf", theirs + "_bf");
    sublayer_norm(ours, pre() ? theirs : theirs + "_ffn");
  }

  WeightMapping& w_;
  const ModelConfig& c_;
};

// The factors that forks for browsers round activations with: here each row has its own.
void ignore_activation_factors(WeightMapping& weights, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (name.ends_with("_QuantMultA")) weights.ignore(name);
}

// A list of pieces numbers what splits the text: in folders of OPUS-MT a SentencePiece model or the merges of BPE
// beside the list, source.spm or source.bpe; else the text is split already. Pieces that the list lacks of the model's
// are never used.
Vocabulary load_vocabulary(const std::string& path, const char* side, int rows) {
  if (!is_piece_list(path)) return Vocabulary::load(path);
  ListedVocabulary v;
  v.pieces = pieces_of_file(read_file(path), path);
  v.special = marian_special(v.pieces);
  fill_up(v, rows);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const auto& [kind, ending] :
       {std::pair(SegmentationKind::sentencepiece, ".spm"), std::pair(SegmentationKind::bpe, ".bpe")}) {
    const std::string splits = folder / (side + std::string(ending));
    if (!std::filesystem::exists(splits)) continue;
    v.segmentation = kind;
    v.model = read_file(splits);
    break;
  }
  if (v.segmentation != SegmentationKind::sentencepiece)
    log_info("{}: its {} text is to be tokenised as in the training of the model: dragoman does not do that", path,
             side);
  return Vocabulary::from_list(std::move(v), path);
}

Vocabularies load_vocabularies(const MarianFiles& files, const ModelConfig& c) {
  require(files.vocabs.size() == 2, "{}: a model needs the vocabularies of its source and of its target, found {}",
          files.model, files.vocabs.size());
  Vocabulary source = load_vocabulary(files.vocabs[0], "source", c.source_vocabulary);
  const bool same = files.vocabs[1] == files.vocabs[0] && !is_piece_list(files.vocabs[0]);
  Vocabulary target = same ? source : load_vocabulary(files.vocabs[1], "target", c.target_vocabulary);
  return {std::move(source), std::move(target)};
}

void set_vocabulary_sizes(ModelConfig& c, const WeightMapping& weights) {
  const auto rows = [&](const char* own) {
    const ForeignTensor& table = weights.get(c.embeddings.ties_source() ? "Wemb" : own);
    require(table.shape.size() == 2, "{}: {} is no matrix", weights.path(), table.name);
    return int(table.shape[0]);
  };
  c.source_vocabulary = rows("encoder_Wemb");
  c.target_vocabulary = rows("decoder_Wemb");
}

void take_special_ids(ModelConfig& c, const Vocabularies& v, const WeightMapping& weights) {
  const Vocabulary& target = v.target;
  c.special = {target.unk(), target.bos(), target.eos(), target.pad()};
  for (const auto& [side, size, found] : {std::tuple("source", c.source_vocabulary, v.source.size()),
                                          std::tuple("target", c.target_vocabulary, target.size())})
    if (size != found)
      throw Error(fmt::format("{}: its {} embedding has {} rows, but the vocabulary has {} pieces", weights.path(),
                              side, size, found),
                  "convert it with those that it was trained with: dragoman convert --vocabs SOURCE TARGET …");
}

}  // namespace

std::optional<ConvertedModel> read_marian(const std::string& path, const std::vector<std::string>& vocabs) {
  std::optional<MarianFiles> files = find_marian_files(path);
  if (!files) return std::nullopt;
  std::vector<ForeignTensor> tensors =
      files->model.ends_with(".npz") ? read_npz(files->model) : read_marian_bin(files->model);
  std::vector<std::string> names;
  for (const ForeignTensor& t : tensors) names.push_back(t.name);
  WeightMapping weights(files->model, std::move(tensors));
  if (!vocabs.empty()) files->vocabs = vocabs;
  if (files->vocabs.empty()) files->vocabs = vocabularies_beside(files->model);
  ModelConfig config = marian_config(text_of(weights.get(options_tensor)), files->model);
  set_vocabulary_sizes(config, weights);
  ConvertedModel model{config, load_vocabularies(*files, config), {}};
  take_special_ids(model.config, model.vocabularies, weights);
  validate(model.config, files->model);
  weights.ignore(options_tensor);
  ignore_activation_factors(weights, names);
  Mapping mapping(weights, model.config);
  mapping.embeddings();
  mapping.encoder();
  mapping.decoder();
  model.weights = weights.take();
  return model;
}

}  // namespace dragoman
