#include "interop/write_huggingface.h"

#include <fmt/format.h>

#include "base/error.h"
#include "interop/huggingface_files.h"
#include "interop/raw_bytes.h"
#include "interop/suppressed_bias.h"

namespace dragoman {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::string_view expressible_in_marian_mt[] = {"decoder_heads",   "embedding_scale", "decoder_start",
                                                         "target_language", "suppressed_ids",  "search_rule"};

/// Builds the tensors of a folder.
class Tensors {
 public:
  explicit Tensors(const ModelFile& model) : model_(model), c_(model.config()) {}

  std::vector<TensorEntry> all();

 private:
  void copy(const std::string& theirs, const std::string& ours) {
    TensorEntry tensor = floating(model_, ours);
    tensor.name = theirs;
    tensors_.push_back(std::move(tensor));
  }
  void linear(const std::string& theirs, const std::string& ours) {
    copy(theirs + ".weight", ours + ".weight");
    copy(theirs + ".bias", ours + ".bias");
  }
  void table(const std::string& theirs, const std::string& ours);
  void bias();
  void attention(const std::string& theirs, const std::string& ours);
  void layer(const std::string& theirs, const std::string& ours, bool cross);

  const ModelFile& model_;
  const ModelConfig& c_;
  std::vector<TensorEntry> tensors_;
};

Bytes bytes_of(const TensorEntry& t) { return t.make ? t.make() : Bytes(t.bytes.begin(), t.bytes.end()); }

// The row of <pad> is zero, as the class expects.
void Tensors::table(const std::string& theirs, const std::string& ours) {
  TensorEntry tensor = floating(model_, ours);
  tensor.name = theirs;
  if (adds_pad(c_)) {
    const TensorEntry without = tensor;
    const auto row = size_t(tensor.shape[1] * size_of(tensor.dtype));
    tensor.shape[0] += 1;
    tensor.bytes = {};
    tensor.make = [without, row] {
      Bytes bytes = bytes_of(without);
      bytes.resize(bytes.size() + row);
      return bytes;
    };
  }
  tensors_.push_back(std::move(tensor));
}

// The class always has a bias. An added <pad> must never be generated.
void Tensors::bias() {
  std::vector<float> values(size_t(c_.target_vocabulary));
  if (c_.embeddings.output_bias) values = floats_of(floating(model_, "output.bias"));
  if (adds_pad(c_)) values.push_back(suppressed_logit);
  tensors_.push_back(
      {.name = "final_logits_bias", .dtype = DType::f32, .shape = {1, int64_t(values.size())}, .make = [values] {
         return raw_bytes(values);
       }});
}

void Tensors::attention(const std::string& theirs, const std::string& ours) {
  for (const auto& [letter, role] : {std::pair("q", "query"), {"k", "key"}, {"v", "value"}, {"out", "output"}})
    linear(fmt::format("{}.{}_proj", theirs, letter), fmt::format("{}.{}", ours, role));
  linear(theirs + "_layer_norm", ours + "_norm");
}

void Tensors::layer(const std::string& theirs, const std::string& ours, bool cross) {
  attention(theirs + "self_attn", ours + "self_attention");
  if (cross) attention(theirs + "encoder_attn", ours + "cross_attention");
  linear(theirs + "fc1", ours + "feed_forward.up");
  linear(theirs + "fc2", ours + "feed_forward.down");
  linear(theirs + "final_layer_norm", ours + "feed_forward_norm");
}

std::vector<TensorEntry> Tensors::all() {
  const EmbeddingsConfig& e = c_.embeddings;
  if (e.ties_source())
    table("model.shared.weight", e.tied_all ? "embedding.weight" : "source_embedding.weight");
  else
    table("model.encoder.embed_tokens.weight", "source_embedding.weight"),
        table("model.decoder.embed_tokens.weight", "target_embedding.weight");
  if (!e.ties_output()) table("lm_head.weight", "output.weight");
  bias();
  for (int l = 0; l < c_.encoder_layers; ++l)
    layer(fmt::format("model.encoder.layers.{}.", l), fmt::format("encoder.{}.", l), false);
  for (int l = 0; l < c_.decoder_layers; ++l)
    layer(fmt::format("model.decoder.layers.{}.", l), fmt::format("decoder.{}.", c_.weights_of_decoder_layer(l)), true);
  return std::move(tensors_);
}

}  // namespace

void write_huggingface(const ModelFile& model, const std::string& path) {
  require_fields(model, expressible_in_marian_mt, "MarianMT of transformers", {},
                 "dragoman train --task transformer-base trains models for MarianMT; ");
  const ModelConfig& c = model.config();
  const std::string& name = model.tensors().path();
  require(c.source_vocabulary == c.target_vocabulary,
          "{}: its vocabularies have {} and {} pieces, but MarianMT needs equal numbers", name, c.source_vocabulary,
          c.target_vocabulary);
  require(c.embeddings.scale == 0 || c.embeddings.scale == 1,
          "{}: its 'embedding_scale' is {}, expected 0 or 1 for MarianMT", name, c.embeddings.scale);
  for (const auto& [side, vocabulary] :
       {std::pair("source", &model.vocabularies().source), std::pair("target", &model.vocabularies().target)})
    sentencepiece_of(*vocabulary, side);  // throws if there is none
  write_folder(path, [&](const OutputFolder& folder) {
    write_huggingface_files(folder, model);
    write_safetensors(folder.file("model.safetensors"), Tensors(model).all(), {{"format", "pt"}});
  });
}

}  // namespace dragoman
