#include "interop/fairseq.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/symbolic_links.h"
#include "interop/fairseq_weights.h"
#include "interop/pickle_fields.h"
#include "interop/splitting.h"
#include "interop/torch_file.h"
#include "model/validate.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

/// The options of a model and of its task. Older checkpoints store both in one object, newer ones in two.
struct FairseqOptions {
  PickleFields model, task;
};

FairseqOptions options_of(const PickleDict& checkpoint, const std::string& path) {
  const auto given = [&](const char* name) {
    const PickleRef value = checkpoint.find(name);
    return value && !value->as<PickleNone>() ? value : nullptr;
  };
  if (const PickleRef args = given("args")) {
    const PickleFields all(*args, path + ": args");
    return {all, all};
  }
  require(given("cfg"), "{} has neither args nor cfg, which describe the model", path);
  const PickleFields all(*given("cfg"), path + ": cfg");
  const auto model = all.inside("model"), task = all.inside("task");
  require(model && task, "{} has no model or no task", all.where());
  return {*model, *task};
}

// Architectures are named presets of options, and users may register their own. Old and new checkpoints name them
// differently.
void check_kind(const FairseqOptions& o) {
  const std::string arch = o.model.text("arch", o.model.text("_name", "transformer"));
  if (!arch.starts_with("transformer") || arch.starts_with("transformer_lm"))
    throw Error(fmt::format("{}: arch is {}, expected transformer or transformer_…", o.model.where(), arch),
                "dragoman reads only fairseq's translation Transformers; it reads M2M100 and mBART-50 from Hugging "
                "Face's folders");
  const std::string task = o.task.text(o.task.find("_name") ? "_name" : "task", "translation");
  if (task != "translation")
    throw Error(fmt::format("{}: the task is {}, expected translation", o.task.where(), task),
                "other tasks build their input differently; dragoman reads NLLB-200, M2M100 and mBART-50 from Hugging "
                "Face's folders");
}

// Rejects unsupported options that change what a model computes. LayerDrop does so only if layers were pruned.
void refuse_unknown_fairseq_parts(const PickleFields& o) {
  static constexpr std::pair<const char*, const char*> parts[] = {
      {"adaptive_softmax_cutoff", "its output layer is an adaptive softmax"},
      {"adaptive_input", "its embeddings are adaptive"},
      {"char_inputs", "it reads characters"},
      {"no_cross_attention", "its decoder does not attend to the source"},
      {"cross_self_attention", "its decoder attends to source and target together"},
      {"encoder_layers_to_keep", "its encoder was pruned: let fairseq save the smaller model"},
      {"decoder_layers_to_keep", "its decoder was pruned: let fairseq save the smaller model"},
      {"quant_noise_pq", "its weights are product-quantised"},
      {"quant_noise_scalar", "it was trained with scalar quantisation noise"},
      {"base_layers", "it has BASE layers"},
      {"encoder_xformers_att_config", "its attention is one of xFormers"},
      {"decoder_xformers_att_config", "its attention is one of xFormers"},
      {"merge_src_tgt_embed", "its two dictionaries are merged"}};
  for (const auto& [name, why] : parts)
    if (o.is_set(name))
      throw Error(fmt::format("{}: {} is set, which dragoman does not support", o.where(), name), why);
}

// Options that fairseq has for each side and dragoman only once.
void require_same(const PickleFields& o, const char* option, bool encoder, bool decoder) {
  require(encoder == decoder, "{}: encoder_{} and decoder_{} differ, expected the same on both sides", o.where(),
          option, option);
}

Activation fairseq_activation(const PickleFields& o) {
  const std::string name = o.text("activation_fn", "relu");
  for (const auto& [known, activation] : {std::pair("relu", Activation::relu),
                                          {"gelu", Activation::gelu},
                                          {"gelu_accurate", Activation::gelu_tanh},
                                          {"gelu_fast", Activation::gelu_tanh},
                                          {"tanh", Activation::tanh},
                                          {"linear", Activation::none}})
    if (name == known) return activation;
  throw Error(fmt::format("{}: activation_fn is {}, which dragoman does not support", o.where(), name),
              "relu, gelu, gelu_accurate, gelu_fast, tanh and linear are supported");
}

// The fallback values are fairseq's defaults, since older files have no options that were added later.
void set_sizes(ModelConfig& m, const PickleFields& o) {
  m.dim = o.number("encoder_embed_dim", 512);
  for (const char* other : {"decoder_embed_dim", "decoder_input_dim", "decoder_output_dim"})
    require(o.number(other, m.dim) == m.dim, "{}: {} is {}, expected encoder_embed_dim, {}", o.where(), other,
            o.number(other, m.dim), m.dim);
  m.encoder_layers = o.number("encoder_layers", 6);
  m.decoder_layers = o.number("decoder_layers", 6);
  for (const char* size : {"encoder_attention_heads", "decoder_attention_heads", "decoder_ffn_embed_dim"})
    require(o.number(size, 8) >= 1, "{}: {} is {}, expected at least 1", o.where(), size, o.number(size, 8));
  m.heads = o.number("encoder_attention_heads", 8);
  m.feed_forward = o.number("encoder_ffn_embed_dim", 2048);
  if (const int heads = o.number("decoder_attention_heads", 8); heads != m.heads) m.decoder_heads = heads;
  if (const int inner = o.number("decoder_ffn_embed_dim", m.feed_forward); inner != m.feed_forward)
    m.decoder_feed_forward = inner;
  m.alignment = alignment_config(o.number("alignment_layer", -1), o.number("alignment_heads", 0), m.decoder_layers);
}

// fairseq counts positions from the id of <pad>.
void set_fairseq_positions(ModelConfig& m, const PickleFields& o) {
  if (o.flag("no_token_positional_embeddings")) {
    m.positions = Positions::none;
    return;
  }
  const bool learned = o.flag("encoder_learned_pos");
  require_same(o, "learned_pos", learned, o.flag("decoder_learned_pos"));
  if (!learned) {
    m.position_spacing = PositionSpacing::tensor2tensor;
    m.first_position = m.special.pad + 1;
    return;
  }
  constexpr int usual = 1024;
  m.positions = Positions::learned;
  m.max_positions = o.number("max_source_positions", usual);
  require(o.number("max_target_positions", usual) == m.max_positions,
          "{}: max_target_positions is {}, expected max_source_positions, {}, as positions are learned", o.where(),
          o.number("max_target_positions", usual), m.max_positions);
}

ModelConfig model_config(const PickleFields& o) {
  ModelConfig m;
  m.special = {.unk = 3, .bos = 0, .eos = 2, .pad = 1};
  m.decoder_start = DecoderStart::eos;
  m.generation.search_rule = SearchRule::fairseq;
  set_sizes(m, o);
  set_fairseq_positions(m, o);
  m.activation = fairseq_activation(o);
  const bool before = o.flag("encoder_normalize_before");
  require_same(o, "normalize_before", before, o.flag("decoder_normalize_before"));
  m.norm = before ? NormPlacement::pre : NormPlacement::post;
  m.embedding_norm = o.flag("layernorm_embedding");
  m.embeddings.scale = o.flag("no_scale_embedding") ? 1 : 0;
  m.embeddings.tied_all = o.flag("share_all_embeddings");
  m.embeddings.tied_output = !m.embeddings.tied_all && o.flag("share_decoder_input_output_embed");
  return m;
}

// fairseq's oldest checkpoints have one matrix for query, key and value, and number the norms of a layer. Version 0.12
// stores copies of an encoder layer's weights for PyTorch's fused kernel, which it overwrites when it loads a file.
std::vector<ForeignTensor> renamed(std::vector<ForeignTensor> tensors, const std::string& path) {
  std::vector<ForeignTensor> result;
  for (ForeignTensor& t : tensors) {
    const bool in_encoder = t.name.starts_with("encoder.layers.");
    const size_t in_layer = t.name.find('.', sizeof("encoder.layers.") - 1) + 1;  // "encoder.layers.0."
    const std::string part = in_encoder || t.name.starts_with("decoder.layers.") ? t.name.substr(in_layer) : "";
    for (const char* copy : {"in_proj_", "out_proj_", "fc1_", "fc2_"})
      if (in_encoder && part.starts_with(copy)) t.name.clear();
    if (t.name.empty()) continue;
    if (const size_t at = t.name.find(".in_proj_"); at != t.name.npos) {
      const int64_t rows = t.shape.empty() ? 0 : t.shape[0] / 3;
      require(rows > 0 && t.shape[0] == rows * 3, "{}: {} is ({}), expected a multiple of 3 rows", path, t.name,
              fmt::join(t.shape, ","));
      const std::string kind = t.name.substr(at + sizeof(".in_proj_") - 1), attention = t.name.substr(0, at);
      for (int64_t i = 0; i < 3; ++i) {
        result.push_back(rows_of(t, i * rows, rows));
        result.back().name = fmt::format("{}.{}_proj.{}", attention, "qkv"[i], kind);
      }
      continue;
    }
    for (const auto& [number, norm] : {std::pair("0", "self_attn_layer_norm"),
                                       {"1", in_encoder ? "final_layer_norm" : "encoder_attn_layer_norm"},
                                       {"2", "final_layer_norm"}})
      if (const std::string old = fmt::format("layer_norms.{}.", number); part.starts_with(old)) {
        t.name = t.name.substr(0, in_layer) + norm + "." + part.substr(old.size());
        break;
      }
    result.push_back(std::move(t));
  }
  return result;
}

void map_fairseq_embeddings(WeightMapping& w, const EmbeddingsConfig& e) {
  const std::string source = "encoder.embed_tokens.weight", target = "decoder.embed_tokens.weight",
                    old = "decoder.embed_out", output = w.has(old) ? old : "decoder.output_projection.weight";
  const auto table = [&](const char* ours, const std::string& theirs) { w.matrix(ours, theirs, MatrixRows::outputs); };
  table(e.tied_all ? "embedding.weight" : "source_embedding.weight", source);
  e.ties_source() ? w.ignore_copy(target, source) : table("target_embedding.weight", target);
  e.ties_output() ? w.ignore_copy(output, e.ties_source() ? source : target) : table("output.weight", output);
  for (const char* side : {"encoder", "decoder"})
    for (const char* unused : {".version", ".embed_positions._float_tensor"}) w.ignore(std::string(side) + unused);
}

bool is_dictionary(const std::string& file) { return file.ends_with(".txt"); }

Vocabularies vocabularies_of(const WeightMapping& weights, const std::vector<std::string>& vocabs,
                             const PickleFields& task, ModelConfig& m) {
  const std::string& path = weights.path();
  const fs::path folder = fs::absolute(path).parent_path();
  const std::array<std::string, 2> languages = {task.text("source_lang", ""), task.text("target_lang", "")};
  std::vector<Vocabulary> sides;
  for (size_t side = 0; side < 2; ++side) {
    std::string dictionary = folder / fmt::format("dict.{}.txt", languages[side]);
    Splitting splitting = find_splitting(FileSet::of_folder(folder), side == 0 ? "source" : "target");
    if (!vocabs.empty() && is_dictionary(vocabs[side]))
      dictionary = vocabs[side];
    else if (!vocabs.empty())
      splitting = load_splitting(vocabs[side]);
    if (!is_there(dictionary))
      throw Error(fmt::format("{}: there is no such file; it lists the pieces of {}", dictionary, path),
                  "copy it from the folder of the binarised data, or name both: --vocabs dict.SRC.txt dict.TGT.txt");
    if (side == 0) warn_unless_split(splitting, path);
    ListedVocabulary v = listed_vocabulary(pieces_of_fairseq(read_regular_file(dictionary), dictionary),
                                           std::move(splitting), m.special);
    sides.push_back(Vocabulary::from_list(std::move(v), dictionary));
    weights.require_rows(side == 0 ? "encoder.embed_tokens.weight" : "decoder.embed_tokens.weight", sides[side].size(),
                         side == 0 ? "source" : "target", dictionary);
  }
  m.source_vocabulary = sides[0].size(), m.target_vocabulary = sides[1].size();
  return {sides[0], sides[1]};
}

}  // namespace

std::optional<ConvertedModel> read_fairseq(const std::string& path, const std::vector<std::string>& vocabs) {
  if (!looks_like_torch(path)) return std::nullopt;
  const TorchFile file = *read_torch(path);
  const auto* checkpoint = file.root().as<PickleDict>();
  if (!checkpoint || !checkpoint->find("model") || !(checkpoint->find("args") || checkpoint->find("cfg")))
    return std::nullopt;
  const FairseqOptions options = options_of(*checkpoint, path);
  check_kind(options);
  refuse_unknown_fairseq_parts(options.model);
  ModelConfig m = model_config(options.model);
  WeightMapping weights(path, renamed(state_dict_tensors(file, *checkpoint->find("model"), path), path));
  // Early pre-norm models have no final norm; with no_decoder_final_norm, only the encoder has one.
  const bool final_norm = weights.has("encoder.layer_norm.weight");
  require(final_norm == weights.has("decoder.layer_norm.weight"),
          "{}: only one of encoder and decoder has a final norm, expected both or none", path);
  if (final_norm != (m.norm == NormPlacement::pre)) m.final_norm = final_norm ? FinalNorm::always : FinalNorm::never;
  const Vocabularies vocabularies = vocabularies_of(weights, vocabs, options.task, m);
  validate(m, path);
  map_fairseq_embeddings(weights, m.embeddings);
  map_fairseq_weights(weights, m, "");
  return ConvertedModel{m, vocabularies, weights.take()};
}

}  // namespace dragoman
