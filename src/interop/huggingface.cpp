#include "interop/huggingface.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/symbolic_links.h"
#include "interop/fairseq_weights.h"
#include "interop/huggingface_config.h"
#include "interop/huggingface_generation.h"
#include "interop/huggingface_vocabulary.h"
#include "interop/t5.h"
#include "interop/torch_file.h"
#include "model/validate.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char *safe = "model.safetensors", *pickled = "pytorch_model.bin";

bool has_weights(const fs::path& folder, const std::string& name) {
  return is_there(folder / name) || is_there(folder / (name + ".index.json"));
}

void refuse_onnx(const fs::path& folder) {
  if (has_weights(folder, safe) || has_weights(folder, pickled) || !fs::exists(folder / "encoder_model.onnx")) return;
  throw Error(folder.string() + " has ONNX models, which dragoman writes but does not read",
              "give the model that they were made from");
}

/// All tensors of a folder, from one file or from shards. safetensors files are preferred to torch.save files.
std::vector<ForeignTensor> tensors_of(const fs::path& folder) {
  const std::string name = !has_weights(folder, safe) && has_weights(folder, pickled) ? pickled : safe;
  std::set<std::string> files;
  if (const fs::path index = folder / (name + ".index.json"); is_there(index)) {
    const json shards = parse_json(read_regular_file(index));
    require(shards.is_object() && shards.contains("weight_map") && shards["weight_map"].is_object(),
            "{} has no weight_map", index.string());
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

// Tied matrices are stored once, or once under each name. Untied, M2M100 and mBART may have a table for each side; then
// nothing reads the shared one.
void map_huggingface_embeddings(WeightMapping& w, ModelConfig& m) {
  EmbeddingsConfig& e = m.embeddings;
  const std::string shared = "model.shared.weight", encoder = "model.encoder.embed_tokens.weight",
                    decoder = "model.decoder.embed_tokens.weight", output = "lm_head.weight";
  const auto first_of = [&](std::initializer_list<std::string> names) {
    for (const std::string& name : names)
      if (w.has(name)) return name;
    return *names.begin();
  };
  const auto table = [&](const std::string& ours, const std::string& theirs) {
    const bool of_target = ours == "target_embedding.weight" || ours == "output.weight";
    using enum WeightMapping::Axis;
    w.require_extent(theirs, columns, m.dim, "d_model in config.json");
    w.require_extent(theirs, rows, of_target ? m.target_vocabulary : m.source_vocabulary,
                     of_target ? "decoder_vocab_size (or vocab_size) in config.json" : "vocab_size in config.json");
    w.matrix(ours, theirs, MatrixRows::outputs);
  };
  if (e.tied_source && w.has(encoder) && w.has(decoder)) e.tied_source = w.same(encoder, decoder);
  const std::string source = e.tied_all      ? first_of({shared, encoder, decoder, output})
                             : e.tied_source ? first_of({encoder, shared, decoder})
                                             : first_of({encoder, shared}),
                    target = e.ties_source() ? source
                             : e.tied_output ? first_of({decoder, output})
                                             : decoder;
  table(e.tied_all ? "embedding.weight" : "source_embedding.weight", source);
  e.ties_source() ? w.ignore_copy(decoder, source) : table("target_embedding.weight", target);
  e.ties_output() ? w.ignore_copy(output, target) : table("output.weight", output);
  if (e.tied_all) w.ignore_copy(shared, source), w.ignore_copy(encoder, source);
  w.ignore(shared);
  if (e.output_bias) w.vector("output.bias", "final_logits_bias");
}

// Of the first layer: the others are as wide.
void check_inner_sizes(const WeightMapping& w, const ModelConfig& m) {
  using enum WeightMapping::Axis;
  w.require_extent("model.encoder.layers.0.fc1.weight", rows, m.feed_forward, "encoder_ffn_dim in config.json");
  w.require_extent("model.decoder.layers.0.fc1.weight", rows,
                   m.decoder_feed_forward > 0 ? m.decoder_feed_forward : m.feed_forward,
                   "decoder_ffn_dim in config.json");
}

}  // namespace

std::optional<ConvertedModel> read_huggingface(const std::string& path) {
  const fs::path folder = path, configuration = folder / "config.json";
  if (!fs::is_directory(folder) || !is_there(configuration)) return std::nullopt;
  const JsonObject config(configuration);
  if (!config.has("model_type")) return std::nullopt;
  refuse_onnx(folder);
  const JsonObject generation = huggingface_generation(folder, config);
  ModelConfig m = huggingface_model_config(config, generation);
  set_generation(m, generation);
  const Vocabularies vocabularies = huggingface_vocabularies(folder, config, generation, m);
  validate(m, config.path());
  WeightMapping weights(path, tensors_of(folder));
  std::vector<TensorEntry> ours;
  if (huggingface_class(config) == HuggingFaceClass::t5) {
    ours = t5_weights(weights, m, config);
  } else {
    map_huggingface_embeddings(weights, m);
    check_inner_sizes(weights, m);
    map_fairseq_weights(weights, m, "model.");
    ours = weights.take();
  }
  ConvertedModel model{m, vocabularies, std::move(ours)};
  renormalize(model.config, model.weights, generation);
  return model;
}

}  // namespace dragoman
