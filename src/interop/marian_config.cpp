#include "interop/marian_config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

/// The options in a model's file.
class MarianOptions {
 public:
  MarianOptions(const std::string& yaml, const std::string& path) : path_(path) {
    try {
      root_ = YAML::Load(yaml);
    } catch (const YAML::Exception& e) {
      fail("{}: its options (special:model.yml) are not YAML: {}", path, e.what());
    }
    require(root_.IsMap(), "{}: its options (special:model.yml) are not a list of names and values", path);
  }

  template <class T>
  T get(const std::string& key, T otherwise) const {
    const YAML::Node value = root_[key];
    if (!value || value.IsNull()) return otherwise;
    try {
      return value.as<T>();
    } catch (const YAML::Exception&) {
      fail("{}: its option {} is {}, expected a value of another type", path_, key, beginning_of(YAML::Dump(value)));
    }
  }
  std::string text(const std::string& key, const std::string& otherwise = "") const { return get(key, otherwise); }

  [[noreturn]] void refuse(const std::string& key, const std::string& why) const {
    throw Error(
        fmt::format("{}: its option {} is {}, which dragoman does not support", path_, key, beginning_of(text(key))),
        why);
  }

 private:
  const std::string& path_;
  YAML::Node root_;
};

struct Unsupported {
  const char* option;
  std::vector<std::string> known;  // supported values
  const char* why;
};

void refuse_unsupported(const MarianOptions& o) {
  const Unsupported all[] = {
      {"type",
       {"transformer"},
       "dragoman reads only Marian's Transformers with one source: not recurrent models (s2s, amun, nematus), whose "
       "GRUs are conditional, nor transformer-new, whose ALiBi slopes are trained"},
      {"right-left", {"false"}, "its target text is read from right to left"},
      {"ulr", {"false"}, "its embeddings are universal (ULR)"},
      {"lemma-dim-emb", {"0"}, "its vocabularies have factors"},
      {"transformer-ffn-depth", {"2"}, "dragoman's feed-forward networks have two matrices"},
      {"transformer-decoder-ffn-depth", {"0", "2"}, "dragoman's feed-forward networks have two matrices"},
      {"transformer-aan-depth", {"2"}, "the feed-forward network of dragoman's average attention has two matrices"},
      {"transformer-rnn-projection", {"false"}, "dragoman's SSRU has no output projection"},
      {"transformer-pool", {"false"}, "dragoman has no max-pooling in place of self-attention"},
      {"transformer-no-bias", {"false"}, "dragoman's layer norms have a shift"},
      {"transformer-no-affine", {"false"}, "dragoman's layer norms have a gain"},
      {"transformer-attention-mask", {"default"}, "dragoman supports only the usual attention mask"},
      {"transformer-postprocess-emb", {"", "d", "n", "nd", "dn"}, "dragoman has a norm after the embeddings, or none"},
      {"transformer-postprocess-top",
       {"", "d", "n", "dn", "nd"},
       "dragoman has a norm at the output of each stack, or none"},
  };
  for (const auto& [option, known, why] : all)
    if (std::ranges::find(known, o.text(option, known[0])) == known.end()) o.refuse(option, why);
}

// Up to version 1.12.0, Marian approximated gelu by a sigmoid: "v1.9.56 ba91b39 …".
bool has_exact_gelu(const std::string& version) {
  int major = 0, minor = 0, patch = 0;
  if (std::sscanf(version.c_str(), "v%d.%d.%d", &major, &minor, &patch) != 3) return false;
  return std::tuple(major, minor, patch) > std::tuple(1, 12, 0);
}

Activation activation_of(const MarianOptions& o, const std::string& key) {
  const std::string name = o.text(key, "swish");
  if (name == "relu") return Activation::relu;
  if (name == "swish") return Activation::swish;
  if (name == "gelu") return has_exact_gelu(o.text("version")) ? Activation::gelu : Activation::gelu_sigmoid;
  o.refuse(key, "dragoman supports relu, swish and gelu");
}

NormPlacement placement_of(const MarianOptions& o) {
  std::string before = o.text("transformer-preprocess"), after = o.text("transformer-postprocess", "dan");
  for (std::string* steps : {&before, &after}) std::erase(*steps, 'd');  // dropout
  const auto is = [&](const char* pre, const char* post) { return before == pre && after == post; };
  if (is("", "an")) return NormPlacement::post;
  if (is("n", "a")) return NormPlacement::pre;
  o.refuse("transformer-postprocess",
           fmt::format("with --transformer-preprocess '{}': dragoman supports '' with dan (post-norm) and n with da "
                       "(pre-norm), but not highway or other connections",
                       o.text("transformer-preprocess")));
}

void set_autoregression(ModelConfig& c, const MarianOptions& o) {
  const std::string kind = o.text("transformer-decoder-autoreg", "self-attention");
  if (kind == "self-attention") return;
  if (kind == "rnn") {
    if (o.text("dec-cell", "gru") != "ssru")
      o.refuse("dec-cell", "the only recurrent decoder layer that dragoman supports is ssru");
    c.autoregression = Autoregression::rnn;
    c.rnn.norm = o.get("layer-normalization", false);
    return;
  }
  if (kind != "average-attention")
    o.refuse("transformer-decoder-autoreg", "dragoman supports self-attention, average-attention and rnn");
  if (c.norm == NormPlacement::pre)
    o.refuse("transformer-preprocess", "in Marian's pre-norm models, average attention normalises only the mean");
  c.autoregression = Autoregression::average_attention;
  c.average = {.feed_forward = o.get("transformer-dim-aan", 2048),
               .activation = activation_of(o, "transformer-aan-activation"),
               .gates = !o.get("transformer-aan-nogate", false)};
}

void set_norms(ModelConfig& c, const MarianOptions& o) {
  c.norm = placement_of(o);
  c.norm_epsilon = 1e-6;
  c.embedding_norm = o.text("transformer-postprocess-emb", "d").find('n') != std::string::npos;
  const bool final_norm = o.text("transformer-postprocess-top").find('n') != std::string::npos;
  if (final_norm != (c.norm == NormPlacement::pre)) c.final_norm = final_norm ? FinalNorm::always : FinalNorm::never;
}

// Marian's numbers only say which layers share weights: in 1 1 2, the third layer has its own. Here each is the first
// layer, from 1, that has the number.
std::vector<int> tied_layers(const std::vector<int>& numbers) {
  std::vector<int> layers;
  bool tied = false;
  for (const int number : numbers) {
    layers.push_back(int(std::ranges::find(numbers, number) - numbers.begin()) + 1);
    tied |= layers.back() != int(layers.size());
  }
  return tied ? layers : std::vector<int>();
}

// The first head of a layer, which Marian counts from 1 too.
AlignmentConfig alignment_of(const MarianOptions& o) {
  const std::string layer = o.text("transformer-guided-alignment-layer", "last");
  return {.layer = layer == "last" ? 0 : o.get("transformer-guided-alignment-layer", 0), .heads = 1};
}

}  // namespace

std::vector<int> marian_decoder_layers(const std::string& yaml, const std::string& path) {
  return MarianOptions(yaml, path).get("transformer-tied-layers", std::vector<int>());
}

std::vector<int> marian_dim_vocabs(const std::string& yaml, const std::string& path) {
  return MarianOptions(yaml, path).get("dim-vocabs", std::vector<int>());
}

ModelConfig marian_config(const std::string& yaml, const std::string& path) {
  const MarianOptions o(yaml, path);
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
  const std::vector<int> numbers = marian_decoder_layers(yaml, path);
  require(numbers.empty() || int(numbers.size()) == c.decoder_layers,
          "{}: its option transformer-tied-layers has {} numbers, expected one for each of the {} decoder layers", path,
          numbers.size(), c.decoder_layers);
  c.tied_decoder_layers = tied_layers(numbers);
  c.alignment = alignment_of(o);
  c.position_spacing = PositionSpacing::tensor2tensor;
  if (o.get("transformer-disable-position-embeddings", false)) {
    c.positions = Positions::none, c.position_spacing = PositionSpacing::paper;
    c.embeddings.scale = 1;  // in Marian, √D belongs to the step that adds positions
  }
  c.embeddings.tied_all = o.get("tied-embeddings-all", false);
  c.embeddings.tied_output = o.get("tied-embeddings", false);
  c.embeddings.tied_source = o.get("tied-embeddings-src", false);
  c.embeddings.output_bias = !o.get("output-omit-bias", false);
  c.decoder_start = DecoderStart::zero;
  return c;
}

}  // namespace dragoman
