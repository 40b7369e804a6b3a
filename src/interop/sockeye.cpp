#include "interop/sockeye.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "base/symbolic_links.h"
#include "interop/sockeye_weights.h"
#include "interop/splitting.h"
#include "interop/torch_file.h"
#include "interop/yaml_fields.h"
#include "model/validate.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

constexpr const char* vocabulary_names[] = {"vocab.src.0.json", "vocab.trg.0.json"};

/// The files of a model.
struct SockeyeFiles {
  std::string parameters, folder;
};

std::optional<SockeyeFiles> find_sockeye_files(const std::string& path) {
  std::error_code ignored;
  const bool in_folder = fs::is_directory(path, ignored);
  if (!in_folder && !looks_like_torch(path)) return std::nullopt;
  const fs::path folder = in_folder ? fs::path(path) : fs::absolute(path).parent_path();
  for (const char* name : {"config", vocabulary_names[0], vocabulary_names[1]})
    if (!fs::is_regular_file(folder / name, ignored)) return std::nullopt;
  return SockeyeFiles{in_folder ? std::string(folder / "params.best") : path, folder};
}

/// The options of a model, and of its two stacks.
struct SockeyeOptions {
  YamlFields model, encoder, decoder;
};

[[noreturn]] void refuse(const YamlFields& o, const std::string& name, const char* why) {
  throw Error(fmt::format("{}: {} is {}, which dragoman does not support", o.where(), name, o.text(name, "")), why);
}

void refuse_unknown_parts(const SockeyeOptions& o) {
  if (o.model.has("neural_vocab_selection"))
    refuse(o.model, "neural_vocab_selection", "its output layer computes only a selection of tokens");
  const YamlFields data = o.model.section("config_data");
  for (const char* factors : {"num_source_factors", "num_target_factors"})
    if (data.number(factors, 1) != 1) refuse(data, factors, "its tokens have factors");
  for (const YamlFields* side : {&o.encoder, &o.decoder}) {
    if (side->flag("use_lhuc")) refuse(*side, "use_lhuc", "its layers have LHUC");
    if (side->flag("block_prepended_cross_attention"))
      refuse(*side, "block_prepended_cross_attention", "its decoder does not attend to the beginning of a source");
  }
  const std::string dtype = o.model.text("dtype", "float32");
  require(dtype == "float32" || dtype == "float16" || dtype == "bfloat16",
          "{}: dtype is {}, expected float32, float16 or bfloat16", o.model.where(), dtype);
}

std::string same_on_both_sides(const SockeyeOptions& o, const char* name, const char* otherwise) {
  const std::string encoder = o.encoder.text(name, otherwise), decoder = o.decoder.text(name, otherwise);
  require(encoder == decoder, "{}: {} is \"{}\", expected that of the encoder, \"{}\"", o.decoder.where(), name,
          decoder, encoder);
  return encoder;
}

// A sequence of steps around a sublayer: n, a norm; r, the residual connection; d, dropout, which only training has.
NormPlacement placement_of(const SockeyeOptions& o) {
  const std::string before = same_on_both_sides(o, "preprocess_sequence", "n");
  std::string after = same_on_both_sides(o, "postprocess_sequence", "dr");
  std::erase(after, 'd');
  if (before == "n" && after == "r") return NormPlacement::pre;
  if (before.empty() && after == "rn") return NormPlacement::post;
  throw Error(fmt::format("{}: preprocess_sequence is \"{}\" and postprocess_sequence is \"{}\", which dragoman does "
                          "not support",
                          o.encoder.where(), before, o.encoder.text("postprocess_sequence", "")),
              "n with dr (pre-norm) and nothing with drn (post-norm) are supported");
}

Activation sockeye_activation(const SockeyeOptions& o) {
  const std::string name = same_on_both_sides(o, "act_type", "relu");
  for (const auto& [known, activation] :
       {std::pair("relu", Activation::relu), {"gelu", Activation::gelu}, {"swish1", Activation::swish}})
    if (name == known) return activation;
  throw Error(fmt::format("{}: act_type is {}, which dragoman does not support", o.encoder.where(), name),
              "relu, gelu and swish1 are supported");
}

void set_sizes(ModelConfig& m, const SockeyeOptions& o) {
  m.dim = o.encoder.number("model_size");
  for (const auto& [options, name] : {std::pair(o.decoder, "model_size"),
                                      {o.model.section("config_embed_source"), "num_embed"},
                                      {o.model.section("config_embed_target"), "num_embed"}})
    require(options.number(name) == m.dim, "{}: {} is {}, expected model_size of the encoder, {}", options.where(),
            name, options.number(name), m.dim);
  m.encoder_layers = o.encoder.number("num_layers");
  m.decoder_layers = o.decoder.number("num_layers");
  m.heads = o.encoder.number("attention_heads");
  m.feed_forward = o.encoder.number("feed_forward_num_hidden");
  const int heads = o.decoder.number("attention_heads"), inner = o.decoder.number("feed_forward_num_hidden");
  for (const auto& [name, size] : {std::pair("attention_heads", heads), {"feed_forward_num_hidden", inner}})
    require(size >= 1, "{}: {} is {}, expected at least 1", o.decoder.where(), name, size);
  if (heads != m.heads) m.decoder_heads = heads;
  if (inner != m.feed_forward) m.decoder_feed_forward = inner;
}

void set_positions(ModelConfig& m, const SockeyeOptions& o) {
  const std::string type = same_on_both_sides(o, "positional_embedding_type", "fixed");
  require(type == "fixed" || type == "learned", "{}: positional_embedding_type is {}, expected fixed or learned",
          o.encoder.where(), type);
  if (type == "fixed") return;
  m.positions = Positions::learned;
  m.max_positions = o.encoder.number("max_seq_len_source");
  const int target = o.decoder.number("max_seq_len_target");
  require(target == m.max_positions,
          "{}: max_seq_len_target is {}, expected max_seq_len_source, {}, as positions are "
          "learned",
          o.decoder.where(), target, m.max_positions);
}

ModelConfig model_config(const SockeyeOptions& o) {
  ModelConfig m;
  refuse_unknown_parts(o);
  set_sizes(m, o);
  set_positions(m, o);
  const std::string decoder = o.decoder.text("decoder_type", "transformer");
  require(decoder == "transformer" || decoder == "ssru_transformer",
          "{}: decoder_type is {}, expected transformer or ssru_transformer", o.decoder.where(), decoder);
  if (decoder == "ssru_transformer") m.autoregression = Autoregression::rnn;
  m.activation = sockeye_activation(o);
  m.gated_feed_forward = same_on_both_sides(o, "use_glu", "false") == "true";
  m.norm = placement_of(o);
  m.norm_epsilon = 1e-6;
  const std::string tying = o.model.text("weight_tying_type", "src_trg_softmax");
  const auto ties = [&](const char* what) { return tying.find(what) != tying.npos; };
  const bool sides = ties("src") && ties("trg"), output = ties("softmax");
  EmbeddingsConfig& e = m.embeddings;
  e.tied_all = sides && output, e.tied_source = sides && !output, e.tied_output = output && !sides;
  e.output_bias = true;
  m.special = {.unk = 1, .bos = 2, .eos = 3, .pad = 0};
  return m;
}

Vocabularies vocabularies_of(const std::string& folder, const std::vector<std::string>& vocabs, ModelConfig& m) {
  const FileSet texts = FileSet::of_folder(folder);
  std::vector<Vocabulary> sides;
  for (size_t side = 0; side < 2; ++side) {
    const std::string list = texts.path_of(vocabulary_names[side]);
    Splitting splitting =
        vocabs.empty() ? find_splitting(texts, side == 0 ? "source" : "target") : load_splitting(vocabs[side]);
    if (side == 0) warn_unless_split(splitting, folder);
    ListedVocabulary v =
        listed_vocabulary(pieces_of_json(read_regular_file(list), list), std::move(splitting), m.special);
    for (const auto& [piece, id] :
         {std::pair("<pad>", m.special.pad), {"<unk>", m.special.unk}, {"<s>", m.special.bos}, {"</s>", m.special.eos}})
      require(size_t(id) < v.pieces.size() && v.pieces[size_t(id)] == piece, "{}: {} has not id {}", list, piece, id);
    sides.push_back(Vocabulary::from_list(std::move(v), list));
  }
  m.source_vocabulary = sides[0].size(), m.target_vocabulary = sides[1].size();
  return {sides[0], sides[1]};
}

}  // namespace

std::optional<ConvertedModel> read_sockeye(const std::string& path, const std::vector<std::string>& vocabs) {
  const auto files = find_sockeye_files(path);
  if (!files) return std::nullopt;
  const std::string config = fs::path(files->folder) / "config";
  const YamlFields model = YamlFields::of_text(read_regular_file(config), config);
  ModelConfig m = model_config({model, model.section("config_encoder"), model.section("config_decoder")});
  const Vocabularies vocabularies = vocabularies_of(files->folder, vocabs, m);
  validate(m, path);
  require(is_there(files->parameters), "{}: there is no such file; it holds the weights of the model",
          files->parameters);
  if (!looks_like_torch(files->parameters))
    throw Error(files->parameters + " is not a file of PyTorch",
                "Sockeye 1 and 2 used MXNet; sockeye.mx_to_pt of Sockeye 3 converts their models");
  const TorchFile file = *read_torch(files->parameters);
  WeightMapping weights(files->parameters, sockeye_tensors(file, files->parameters, m));
  const FileSet texts = FileSet::of_folder(files->folder);
  for (const auto& [name, pieces, side, list] :
       {std::tuple("embedding_source.embedding.weight", m.source_vocabulary, "source", vocabulary_names[0]),
        std::tuple("embedding_target.embedding.weight", m.target_vocabulary, "target", vocabulary_names[1])})
    weights.require_rows(name, pieces, side, texts.path_of(list));
  map_sockeye_weights(weights, m);
  return ConvertedModel{m, vocabularies, weights.take()};
}

std::vector<std::string> sockeye_parts(const std::string& path) {
  const auto files = find_sockeye_files(path);
  if (!files) return {};
  std::vector<std::string> parts = {files->parameters};
  for (const char* name : {"config", vocabulary_names[0], vocabulary_names[1]})
    parts.push_back(fs::path(files->folder) / name);
  return parts;
}

}  // namespace dragoman
