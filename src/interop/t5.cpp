#include "interop/t5.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr const char* output_name = "lm_head.weight";

// "relu", "gated-gelu" and the like; gated-gelu means the approximation of gelu by tanh.
void set_feed_forward(ModelConfig& m, const JsonObject& c) {
  const std::string name = c.get("feed_forward_proj", std::string(is_mt5(c) ? "gated-gelu" : "relu")), gated = "gated-";
  m.gated_feed_forward = name.starts_with(gated);
  const std::string activation = m.gated_feed_forward ? name.substr(gated.size()) : name;
  for (const auto& [known, of] : {std::pair("relu", Activation::relu),
                                  {"gelu", m.gated_feed_forward ? Activation::gelu_tanh : Activation::gelu},
                                  {"gelu_new", Activation::gelu_tanh},
                                  {"silu", Activation::swish},
                                  {"swish", Activation::swish}})
    if (activation == known) {
      m.activation = of;
      return;
    }
  throw Error(fmt::format("{}: feed_forward_proj is {}, which dragoman does not support", c.path(), name),
              "relu, gelu, gelu_new and silu are supported, each also as gated-relu and so on");
}

// Whether "transformers_version" says that the file was written by a version below 5, such as 4.57.1.
bool is_before_version_5(const JsonObject& c) {
  const std::string version = c.get("transformers_version", std::string());
  int major = 5;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major < 5;
}

class T5Mapping {
 public:
  T5Mapping(WeightMapping& weights, const ModelConfig& config) : w_(weights), c_(config) {}

  void all() {
    embeddings();
    for (const char* side : {"encoder", "decoder"}) {
      const std::string ours = side, theirs = ours + ".block.";
      w_.matrix(ours + ".relative_bias.weight", theirs + "0.layer.0.SelfAttention.relative_attention_bias.weight",
                MatrixRows::inputs);
      norm(ours + ".norm", ours + ".final_layer_norm");
      const bool decodes = ours == "decoder";
      for (int l = 0; l < (decodes ? c_.decoder_layers : c_.encoder_layers); ++l)
        layer(fmt::format("{}.{}.", ours, l), fmt::format("{}{}.layer.", theirs, l), decodes);
    }
    // The first files have this table, which nothing reads.
    w_.ignore("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight");
  }

 private:
  void embeddings() {
    const std::string shared = "shared.weight", source = "encoder.embed_tokens.weight",
                      target = "decoder.embed_tokens.weight", output = output_name;
    std::string table = shared;
    for (const std::string& name : {target, source, shared})
      if (w_.has(name)) table = name;
    w_.require_extent(table, WeightMapping::Axis::columns, c_.dim, "d_model in config.json");
    w_.require_extent(table, WeightMapping::Axis::rows, c_.source_vocabulary, "vocab_size in config.json");
    if (c_.embeddings.tied_all) {
      w_.matrix("embedding.weight", table, MatrixRows::outputs);
    } else {
      w_.matrix("source_embedding.weight", table, MatrixRows::outputs);
      w_.matrix("output.weight", output, MatrixRows::outputs);
    }
    for (const std::string& copy : {shared, source, target}) w_.ignore_copy(copy, table);
    if (c_.embeddings.tied_all) w_.ignore_copy(output, table);
  }
  void layer(const std::string& ours, const std::string& theirs, bool decodes) {
    attention(ours + "self_attention", theirs + "0.SelfAttention.");
    norm(ours + "self_attention_norm", theirs + "0.layer_norm");
    if (decodes) {
      attention(ours + "cross_attention", theirs + "1.EncDecAttention.");
      norm(ours + "cross_attention_norm", theirs + "1.layer_norm");
    }
    const std::string last = theirs + (decodes ? "2." : "1."), network = last + "DenseReluDense.";
    const int64_t inner = c_.feed_forward;
    if (c_.gated_feed_forward) linear(ours + "feed_forward.gate", network + "wi_0", inner, "d_ff");
    linear(ours + "feed_forward.up", network + (c_.gated_feed_forward ? "wi_1" : "wi"), inner, "d_ff");
    linear(ours + "feed_forward.down", network + "wo", c_.dim, "d_model");
    norm(ours + "feed_forward_norm", last + "layer_norm");
  }
  void attention(const std::string& ours, const std::string& theirs) {
    const int64_t keys = int64_t{c_.heads} * c_.head_keys();
    for (const auto& [role, name] : {std::pair(".query", "q"), {".key", "k"}, {".value", "v"}})
      linear(ours + role, theirs + name, keys, "num_heads times d_kv");
    linear(ours + ".output", theirs + "o", c_.dim, "d_model");
  }
  void linear(const std::string& ours, const std::string& theirs, int64_t outputs, const char* option) {
    w_.require_extent(theirs + ".weight", WeightMapping::Axis::rows, outputs, fmt::format("{} in config.json", option));
    w_.matrix(ours + ".weight", theirs + ".weight", MatrixRows::outputs);
    w_.zeros(ours + ".bias", outputs);
  }
  void norm(const std::string& ours, const std::string& theirs) { w_.vector(ours + ".weight", theirs + ".weight"); }

  WeightMapping& w_;
  const ModelConfig& c_;
};

}  // namespace

bool is_mt5(const JsonObject& c) { return c.get("model_type", std::string()) == "mt5"; }

void set_t5(ModelConfig& m, const JsonObject& c) {
  m.dim = c.number("d_model");
  m.encoder_layers = c.number("num_layers");
  m.decoder_layers = c.get("num_decoder_layers", m.encoder_layers);
  m.heads = c.number("num_heads");
  m.key_size = c.number("d_kv");
  m.feed_forward = c.number("d_ff");
  m.source_vocabulary = m.target_vocabulary = c.number("vocab_size");
  set_feed_forward(m, c);
  m.norm = NormPlacement::pre;
  m.norm_kind = NormKind::rms;
  m.norm_epsilon = c.get("layer_norm_epsilon", 1e-6);
  m.attention.score = AttentionScore::dot;
  m.positions = Positions::relative_bias;
  m.relative_buckets = c.get("relative_attention_num_buckets", 32);
  m.relative_max_distance = c.get("relative_attention_max_distance", 128);
  m.embeddings.scale = 1;
}

// Versions 5 and above of transformers always say tie_word_embeddings; for T5, scale_decoder_outputs besides. mT5's
// class of version 5 never scales. Before, it scaled tied embeddings as T5's class does, but did not tie by default.
std::vector<TensorEntry> t5_weights(WeightMapping& weights, ModelConfig& m, const JsonObject& c) {
  const bool mt5 = is_mt5(c), never_scaled = mt5 && !is_before_version_5(c), said = c.get("tie_word_embeddings", !mt5),
             scaled = !never_scaled && c.get("scale_decoder_outputs", said);
  const bool tied_as_said = said && !never_scaled && !c.has("scale_decoder_outputs");
  m.embeddings.tied_all = !weights.has(output_name) || tied_as_said;
  m.embeddings.tied_source = !m.embeddings.tied_all;
  T5Mapping(weights, m).all();
  std::vector<TensorEntry> ours = weights.take();
  const auto norm = std::ranges::find(ours, "decoder.norm.weight", &TensorEntry::name);
  invariant(norm != ours.end(), "a T5 has a final norm");
  if (scaled) *norm = scaled_vector(*norm, 1 / std::sqrt(double(m.dim)));
  return ours;
}

}  // namespace dragoman
