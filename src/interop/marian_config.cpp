#include "interop/marian_config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "base/error.h"

namespace dragoman {
namespace {

/// The options in the file of a model.
class Options {
 public:
  Options(const std::string& yaml, const std::string& path) : path_(path) {
    try {
      root_ = YAML::Load(yaml);
    } catch (const YAML::Exception& e) {
      fail("{}: its options (special:model.yml) are no YAML: {}", path, e.what());
    }
    require(root_.IsMap(), "{}: its options (special:model.yml) are no list of names and values", path);
  }

  template <class T>
  T get(const std::string& key, T otherwise) const {
    const YAML::Node value = root_[key];
    if (!value || value.IsNull()) return otherwise;
    try {
      return value.as<T>();
    } catch (const YAML::Exception&) {
      fail("{}: its option {} is {}, expected another kind of value", path_, key, YAML::Dump(value));
    }
  }
  std::string text(const std::string& key, const std::string& otherwise = "") const { return get(key, otherwise); }

  [[noreturn]] void refuse(const std::string& key, const std::string& why) const {
    throw Error(fmt::format("{}: its option {} is {}, which dragoman does not know", path_, key, text(key)), why);
  }

 private:
  const std::string& path_;
  YAML::Node root_;
};

struct Unsupported {
  const char* option;
  std::vector<std::string> known;  // values that are fine
  const char* why;
};

void refuse_unsupported(const Options& o) {
  const Unsupported all[] = {
      {"type",
       {"transformer"},
       "only Transformers of Marian can be converted: its recurrent models (s2s, amun, nematus) have conditional GRUs, "
       "transformer-new has ALiBi with slopes that were trained, and there is one source text"},
      {"right-left", {"false"}, "its target text is read from right to left"},
      {"ulr", {"false"}, "its embeddings are universal ones (ULR)"},
      {"lemma-dim-emb", {"0"}, "its vocabularies have factors"},
      {"transformer-ffn-depth", {"2"}, "a feed-forward network has two matrices here"},
      {"transformer-decoder-ffn-depth", {"0", "2"}, "a feed-forward network has two matrices here"},
      {"transformer-aan-depth", {"2"}, "average attention has a feed-forward network of two matrices here"},
      {"transformer-rnn-projection", {"false"}, "the SSRU has no projection of its output here"},
      {"transformer-pool", {"false"}, "there is no max-pooling instead of self-attention here"},
      {"transformer-no-bias", {"false"}, "layer norms have a shift here"},
      {"transformer-no-affine", {"false"}, "layer norms have a gain here"},
      {"transformer-attention-mask", {"default"}, "only the usual mask of attention is known"},
      {"transformer-postprocess-emb", {"", "d", "n", "nd"}, "embeddings have a norm, then dropout, or none"},
      {"transformer-postprocess-top", {"", "d", "n", "dn", "nd"}, "outputs have a norm or none"},
  };
  for (const auto& [option, known, why] : all)
    if (std::ranges::find(known, o.text(option, known[0])) == known.end()) o.refuse(option, why);
}

// Marian approximated gelu by a sigmoid up to version 1.12.0: "v1.9.56 ba91b39 …".
bool has_exact_gelu(const std::string& version) {
  int major = 0, minor = 0, patch = 0;
  if (std::sscanf(version.c_str(), "v%d.%d.%d", &major, &minor, &patch) != 3) return false;
  return std::tuple(major, minor, patch) > std::tuple(1, 12, 0);
}

Activation activation_of(const Options& o, const std::string& key) {
  const std::string name = o.text(key, "swish");
  if (name == "relu") return Activation::relu;
  if (name == "swish") return Activation::swish;
  if (name == "gelu") return has_exact_gelu(o.text("version")) ? Activation::gelu : Activation::gelu_sigmoid;
  o.refuse(key, "relu, swish and gelu are known");
}

NormPlacement placement_of(const Options& o) {
  const std::string before = o.text("transformer-preprocess"), after = o.text("transformer-postprocess", "dan");
  const auto is = [&](const char* pre, const char* post) { return before == pre && after == post; };
  if (is("", "dan") || is("", "an")) return NormPlacement::post;
  if (is("n", "da") || is("n", "a")) return NormPlacement::pre;
  o.refuse(
      "transformer-postprocess",
      fmt::format("with --transformer-preprocess '{}': known are '' with dan (post-norm) and n with da (pre-norm); "
                  "highway and other connections are not",
                  before));
}

void set_autoregression(ModelConfig& c, const Options& o) {
  const std::string kind = o.text("transformer-decoder-autoreg", "self-attention");
  if (kind == "self-attention") return;
  if (kind == "rnn") {
    if (o.text("dec-cell", "gru") != "ssru") o.refuse("dec-cell", "of recurrent decoder layers only the ssru is known");
    c.autoregression = Autoregression::rnn;
    c.rnn.norm = o.get("layer-normalization", false);
    return;
  }
  if (kind != "average-attention")
    o.refuse("transformer-decoder-autoreg", "self-attention, average-attention and rnn are known");
  if (c.norm == NormPlacement::pre)
    o.refuse("transformer-preprocess", "average attention of pre-norm models normalises only the mean there");
  c.autoregression = Autoregression::average_attention;
  c.average = {.feed_forward = o.get("transformer-dim-aan", 2048),
               .activation = activation_of(o, "transformer-aan-activation"),
               .gates = !o.get("transformer-aan-nogate", false)};
}

void set_norms(ModelConfig& c, const Options& o) {
  c.norm = placement_of(o);
  c.norm_epsilon = 1e-6;
  c.embedding_norm = o.text("transformer-postprocess-emb", "d").find('n') != std::string::npos;
  const bool final_norm = o.text("transformer-postprocess-top").find('n') != std::string::npos;
  if (final_norm != (c.norm == NormPlacement::pre)) c.final_norm = final_norm ? FinalNorm::always : FinalNorm::never;
}

// Layers count from 1 there.
std::vector<int> tied_layers(const Options& o) {
  auto layers = o.get("transformer-tied-layers", std::vector<int>());
  for (int& layer : layers) --layer;
  for (size_t l = 0; l < layers.size(); ++l)
    if (layers[l] != int(l)) return layers;
  return {};
}

}  // namespace

ModelConfig marian_config(const std::string& yaml, const std::string& path) {
  const Options o(yaml, path);
  refuse_unsupported(o);
  ModelConfig c;
  c.dim = o.get("dim-emb", 512);
  c.encoder_layers = o.get("enc-depth", 6);
  c.decoder_layers = o.get("dec-depth", 6);
  c.heads = o.get("transformer-heads", 8);
  c.feed_forward = o.get("transformer-dim-ffn", 2048);
  c.decoder_feed_forward = o.get("transformer-decoder-dim-ffn", 0);
  c.activation = activation_of(o, "transformer-ffn-activation");
  set_norms(c, o);
  set_autoregression(c, o);
  c.attention.projects_result = !o.get("transformer-no-projection", false);
  c.tied_decoder_layers = tied_layers(o);
  c.position_spacing = PositionSpacing::tensor2tensor;
  if (o.get("transformer-disable-position-embeddings", false))
    c.positions = Positions::none, c.position_spacing = PositionSpacing::paper;
  c.embeddings.tied_all = o.get("tied-embeddings-all", false);
  c.embeddings.tied_output = o.get("tied-embeddings", false);
  c.embeddings.tied_source = o.get("tied-embeddings-src", false);
  c.embeddings.output_bias = !o.get("output-omit-bias", false);
  c.decoder_start = DecoderStart::zero;
  return c;
}

}  // namespace dragoman
