#include "interop/huggingface.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "interop/torch_file.h"
#include "interop/weight_mapping.h"
#include "io/json_text.h"
#include "model/validate.h"
#include "vocab/listed_vocabulary.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The configuration of a folder.
class Config {
 public:
  explicit Config(const std::string& path) : path_(path), root_(parse_json(read_file(path))) {
    require(root_.is_object(), "{}: is no JSON object", path);
  }
  const std::string& path() const { return path_; }
  bool has(const char* key) const { return root_.contains(key) && !root_[key].is_null(); }

  template <class T>
  T get(const char* key, T otherwise) const {
    if (!has(key)) return otherwise;
    try {
      return root_[key].get<T>();
    } catch (const json::exception&) {
      fail("{}: {} is {}, expected another kind of value", path_, key, root_[key].dump());
    }
  }
  int number(const char* key) const {
    require(has(key), "{}: has no {}", path_, key);
    return get(key, 0);
  }
  void require_equal(const char* key, bool expected, bool otherwise, const char* why) const {
    if (get(key, otherwise) != expected)
      throw Error(fmt::format("{}: {} is {}, which dragoman does not know", path_, key, !expected), why);
  }

 private:
  const std::string path_;
  json root_;
};

Activation activation_of(const Config& c) {
  const std::string name = c.get("activation_function", std::string("gelu"));
  for (const auto& [known, activation] : {std::pair("swish", Activation::swish),
                                          {"silu", Activation::swish},
                                          {"relu", Activation::relu},
                                          {"gelu", Activation::gelu},
                                          {"gelu_new", Activation::gelu_tanh},
                                          {"gelu_fast", Activation::gelu_tanh},
                                          {"quick_gelu", Activation::gelu_sigmoid}})
    if (name == known) return activation;
  throw Error(fmt::format("{}: activation_function is {}, which dragoman does not know", c.path(), name),
              "swish, silu, relu, gelu, gelu_new and quick_gelu are known");
}

ModelConfig model_config(const Config& c) {
  c.require_equal("normalize_before", false, false, "models of MarianMT are post-norm");
  c.require_equal("normalize_embedding", false, false, "models of MarianMT have no norm of embeddings");
  c.require_equal("add_final_layer_norm", false, false, "models of MarianMT have no norm of their outputs");
  c.require_equal("static_position_embeddings", true, true, "models of MarianMT have sinusoids");
  ModelConfig m;
  m.dim = c.number("d_model");
  m.encoder_layers = c.number("encoder_layers");
  m.decoder_layers = c.number("decoder_layers");
  m.heads = c.number("encoder_attention_heads");
  m.feed_forward = c.number("encoder_ffn_dim");
  if (const int heads = c.number("decoder_attention_heads"); heads != m.heads) m.decoder_heads = heads;
  if (const int inner = c.number("decoder_ffn_dim"); inner != m.feed_forward) m.decoder_feed_forward = inner;
  m.activation = activation_of(c);
  m.embeddings.scale = c.get("scale_embedding", false) ? 0 : 1;
  m.embeddings.output_bias = true;
  const bool shared = c.get("share_encoder_decoder_embeddings", true), tied = c.get("tie_word_embeddings", true);
  m.embeddings.tied_all = shared && tied;
  m.embeddings.tied_source = shared && !tied;
  m.embeddings.tied_output = tied && !shared;
  m.source_vocabulary = c.number("vocab_size");
  m.target_vocabulary = c.get("decoder_vocab_size", m.source_vocabulary);
  return m;
}

/// All tensors of a folder, of one file or of shards: safetensors if there are, else what torch.save wrote.
std::vector<ForeignTensor> tensors_of(const fs::path& folder) {
  const auto has = [&](const std::string& name) {
    return fs::exists(folder / name) || fs::exists(folder / (name + ".index.json"));
  };
  const std::string safe = "model.safetensors", pickled = "pytorch_model.bin";
  const std::string& name = !has(safe) && has(pickled) ? pickled : safe;
  std::set<std::string> files;
  if (const fs::path index = folder / (name + ".index.json"); fs::exists(index)) {
    const json shards = parse_json(read_file(index));
    require(shards.is_object() && shards.contains("weight_map") && shards["weight_map"].is_object(),
            "{}: has no weight_map", index.string());
    for (const auto& [tensor, file] : shards["weight_map"].items()) {
      require(file.is_string(), "{}: the file of {} is {}", index.string(), tensor, file.dump());
      files.insert(folder / fs::path(file.get<std::string>()).filename());
    }
  } else {
    files.insert(folder / name);
  }
  std::vector<ForeignTensor> tensors;
  for (const std::string& path : files) {
    if (name == pickled) {
      for (ForeignTensor& t : state_dict_tensors(path)) tensors.push_back(std::move(t));
      continue;
    }
    const auto file = std::make_shared<const SafetensorsFile>(path);
    for (const TensorEntry& t : file->tensors())
      tensors.push_back({.name = t.name, .dtype = t.dtype, .shape = t.shape, .read = [file, &t] {
                           return std::vector<std::byte>(t.bytes.begin(), t.bytes.end());
                         }});
  }
  return tensors;
}

/// Maps names of weights of a layer or of a part of one.
class Mapping {
 public:
  Mapping(WeightMapping& weights, const ModelConfig& config) : w_(weights), c_(config) {}

  void all() {
    embeddings();
    for (int l = 0; l < c_.encoder_layers; ++l) {
      const std::string ours = fmt::format("encoder.{}.", l), theirs = fmt::format("model.encoder.layers.{}.", l);
      attention(ours + "self_attention", theirs + "self_attn");
      feed_forward(ours, theirs);
    }
    for (int l = 0; l < c_.decoder_layers; ++l) {
      const std::string ours = fmt::format("decoder.{}.", l), theirs = fmt::format("model.decoder.layers.{}.", l);
      attention(ours + "self_attention", theirs + "self_attn");
      attention(ours + "cross_attention", theirs + "encoder_attn");
      feed_forward(ours, theirs);
    }
  }

 private:
  // Tied matrices may be stored once or under each of their names; sinusoids may be stored, too.
  void embeddings() {
    const std::string shared = "model.shared.weight", source = "model.encoder.embed_tokens.weight",
                      target = "model.decoder.embed_tokens.weight", output = "lm_head.weight";
    const EmbeddingsConfig& e = c_.embeddings;
    const auto first_of = [&](std::initializer_list<std::string> names) {
      for (const std::string& name : names)
        if (w_.has(name)) return name;
      return *names.begin();
    };
    if (e.tied_all)
      table("embedding", first_of({shared, source, target, output}));
    else
      table("source_embedding", first_of({source, shared}));
    if (!e.ties_source()) table("target_embedding", first_of({target, output}));
    if (!e.ties_output()) table("output", output);
    w_.vector("output.bias", "final_logits_bias");
    for (const std::string& name : {shared, source, target, output, std::string("model.encoder.embed_positions.weight"),
                                    std::string("model.decoder.embed_positions.weight")})
      w_.ignore(name);
  }
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs, MatrixRows::outputs);
  }
  void linear(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs + ".weight", MatrixRows::outputs);
    w_.vector(ours + ".bias", theirs + ".bias");
  }
  void norm(const std::string& ours, const std::string& theirs) {
    w_.vector(ours + "_norm.weight", theirs + "_layer_norm.weight");
    w_.vector(ours + "_norm.bias", theirs + "_layer_norm.bias");
  }
  void attention(const std::string& ours, const std::string& theirs) {
    for (const auto& [role, letter] : {std::pair("query", "q"), {"key", "k"}, {"value", "v"}, {"output", "out"}})
      linear(fmt::format("{}.{}", ours, role), fmt::format("{}.{}_proj", theirs, letter));
    norm(ours, theirs);
  }
  void feed_forward(const std::string& ours, const std::string& theirs) {
    linear(ours + "feed_forward.up", theirs + "fc1");
    linear(ours + "feed_forward.down", theirs + "fc2");
    norm(ours + "feed_forward", theirs + "final");
  }

  WeightMapping& w_;
  const ModelConfig& c_;
};

Vocabulary load_vocabulary(const fs::path& folder, const char* list, const char* model, const ModelConfig& c,
                           int rows) {
  const std::string path = folder / list;
  ListedVocabulary v;
  v.segmentation = SegmentationKind::sentencepiece;
  v.pieces = pieces_of_json(read_file(path), path);
  v.special = {.unk = c.special.unk, .bos = c.special.bos, .eos = c.special.eos, .pad = c.special.pad};
  v.model = read_file(folder / model);
  fill_up(v, rows);
  require(int(v.pieces.size()) == rows, "{}: has {} pieces, but the model's configuration says {}", path,
          v.pieces.size(), rows);
  return Vocabulary::from_list(std::move(v), path);
}

void set_special_ids(ModelConfig& m, const Config& c, const fs::path& list) {
  const auto pieces = pieces_of_json(read_file(list), list);
  m.special = {.unk = int(std::ranges::find(pieces, "<unk>") - pieces.begin()),
               .bos = -1,
               .eos = c.number("eos_token_id"),
               .pad = c.number("pad_token_id")};
  require(m.special.unk < int(pieces.size()), "{}: has no <unk>", list.string());
  const int start = c.get("decoder_start_token_id", m.special.pad);
  require(start == m.special.pad || start == m.special.eos,
          "{}: decoder_start_token_id is {}, expected that of pad, {}, or of eos, {}", c.path(), start, m.special.pad,
          m.special.eos);
  m.decoder_start = start == m.special.pad ? DecoderStart::pad : DecoderStart::eos;
}

}  // namespace

std::optional<ConvertedModel> read_huggingface(const std::string& path) {
  const fs::path folder = path, configuration = folder / "config.json";
  if (!fs::is_directory(folder) || !fs::exists(configuration)) return std::nullopt;
  const Config config(configuration);
  if (!config.has("model_type")) return std::nullopt;
  if (const auto type = config.get("model_type", std::string()); type != "marian")
    throw Error(fmt::format("{}: model_type is {}, expected marian", config.path(), type),
                "of transformers only MarianMT's models are read");
  ModelConfig m = model_config(config);
  set_special_ids(m, config, folder / "vocab.json");
  validate(m, config.path());
  const char* target_list = fs::exists(folder / "target_vocab.json") ? "target_vocab.json" : "vocab.json";
  ConvertedModel model{m,
                       {load_vocabulary(folder, "vocab.json", "source.spm", m, m.source_vocabulary),
                        load_vocabulary(folder, target_list, "target.spm", m, m.target_vocabulary)},
                       {}};
  WeightMapping weights(path, tensors_of(folder));
  Mapping(weights, model.config).all();
  model.weights = weights.take();
  return model;
}

}  // namespace dragoman
