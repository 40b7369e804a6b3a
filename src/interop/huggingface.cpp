#include "interop/huggingface.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "interop/huggingface_config.h"
#include "interop/huggingface_vocabulary.h"
#include "interop/torch_file.h"
#include "interop/weight_mapping.h"
#include "io/json_text.h"
#include "model/validate.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

// Rows of learned positions that stand before the first.
constexpr int unused_positions = 2;

/// Maps names of weights of a layer or of a part of one.
class Mapping {
 public:
  Mapping(WeightMapping& weights, const ModelConfig& config) : w_(weights), c_(config) {}

  void all() {
    embeddings();
    side("encoder", "model.encoder"), side("decoder", "model.decoder");
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
  // Tied matrices may be stored once or under each of their names.
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
    if (e.output_bias) w_.vector("output.bias", "final_logits_bias");
    for (const std::string& name : {shared, source, target, output}) w_.ignore(name);
  }
  // Sinusoids may be stored, too. Of learned positions, fairseq's ids leave the first rows unused.
  void side(const std::string& ours, const std::string& theirs) {
    const std::string positions = theirs + ".embed_positions.weight";
    if (c_.positions == Positions::learned)
      w_.rows(ours + ".positions.weight", positions, unused_positions, c_.max_positions);
    else
      for (const char* stored : {".weight", ".weights"}) w_.ignore(theirs + ".embed_positions" + stored);
    if (c_.embedding_norm) plain_norm(ours + ".embedding_norm", theirs + ".layernorm_embedding");
    if (c_.has_final_norm()) plain_norm(ours + ".norm", theirs + ".layer_norm");
  }
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs, MatrixRows::outputs);
  }
  void linear(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs + ".weight", MatrixRows::outputs);
    w_.vector(ours + ".bias", theirs + ".bias");
  }
  void norm(const std::string& ours, const std::string& theirs) { plain_norm(ours + "_norm", theirs + "_layer_norm"); }
  void plain_norm(const std::string& ours, const std::string& theirs) {
    w_.vector(ours + ".weight", theirs + ".weight");
    w_.vector(ours + ".bias", theirs + ".bias");
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

}  // namespace

std::optional<ConvertedModel> read_huggingface(const std::string& path) {
  const fs::path folder = path, configuration = folder / "config.json";
  if (!fs::is_directory(folder) || !fs::exists(configuration)) return std::nullopt;
  const JsonObject config(configuration);
  if (!config.has("model_type")) return std::nullopt;
  ModelConfig m = huggingface_model_config(folder, config);
  const Vocabularies vocabularies = huggingface_vocabularies(folder, config, m);
  validate(m, config.path());
  WeightMapping weights(path, tensors_of(folder));
  Mapping(weights, m).all();
  return ConvertedModel{m, vocabularies, weights.take()};
}

}  // namespace dragoman
