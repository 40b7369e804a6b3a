#include "interop/joeynmt.h"

#include <fmt/format.h>

#include "base/error.h"
#include "interop/joeynmt_files.h"
#include "interop/joeynmt_vocabulary.h"
#include "interop/torch_file.h"
#include "interop/weight_mapping.h"
#include "model/validate.h"

namespace dragoman {
namespace {

/// The options of a model's two stacks.
struct Sides {
  YamlFields encoder, decoder;
};

// The defaults are JoeyNMT's.
void check_kind(const YamlFields& model, const Sides& s) {
  for (const auto& [side, usual] : {std::pair(&s.encoder, "recurrent"), {&s.decoder, "transformer"}})
    if (const std::string type = side->text("type", usual); type != "transformer")
      throw Error(fmt::format("{}: type is {}, expected transformer", side->where(), type),
                  "dragoman reads only JoeyNMT's Transformers");
  for (const YamlFields* side : {&s.encoder, &s.decoder})
    require(side->real("alpha", 1) == 1, "{}: alpha is {}, expected 1: dragoman does not scale residual connections",
            side->where(), side->real("alpha", 1));
  const std::string initializer = model.text("initializer", "xavier_uniform");
  require(initializer != "xavier_normal",
          "{}: initializer is xavier_normal, with which JoeyNMT scales residual connections (DeepNet); dragoman does "
          "not support it",
          model.where());
}

// Without the option, the decoders of version 2 are post-norm, its encoders only up to 2.2: those of 2.3 have norms
// before their sublayers and none at their end, as no model of dragoman has. Version 1 lacks the option; its models are
// pre-norm.
NormPlacement placement_of(const Sides& s) {
  if (!s.encoder.has("layer_norm"))
    throw Error(
        s.encoder.where() + " has no layer_norm, expected pre or post on both sides",
        "give both sides what the model was trained with: layer_norm: \"pre\" if JoeyNMT 1 trained it, \"post\" "
        "if 2.0 to 2.2 did; 2.3 makes a model of its own, which dragoman does not support");
  const std::string encoder = s.encoder.text("layer_norm", ""), decoder = s.decoder.text("layer_norm", "post");
  require(encoder == "pre" || encoder == "post", "{}: layer_norm is {}, expected pre or post", s.encoder.where(),
          encoder);
  require(encoder == decoder, "{}: layer_norm is {}{}, expected that of the encoder, {}", s.decoder.where(), decoder,
          s.decoder.has("layer_norm") ? "" : " by default", encoder);
  return encoder == "pre" ? NormPlacement::pre : NormPlacement::post;
}

Activation joeynmt_activation(const Sides& s) {
  const std::string name = s.encoder.text("activation", "relu"), other = s.decoder.text("activation", "relu");
  require(name == other, "{}: activation is {}, expected that of the encoder, {}", s.decoder.where(), other, name);
  for (const auto& [known, activation] :
       {std::pair("relu", Activation::relu), {"gelu", Activation::gelu}, {"swish", Activation::swish}})
    if (name == known) return activation;
  throw Error(fmt::format("{}: activation is {}, which dragoman does not support", s.encoder.where(), name),
              "relu, gelu and swish are supported");
}

void set_sizes(ModelConfig& m, const Sides& s) {
  m.dim = s.encoder.number("hidden_size");
  const int other = s.decoder.number("hidden_size", 512);
  require(other == m.dim, "{}: hidden_size is {}, expected that of the encoder, {}", s.decoder.where(), other, m.dim);
  m.encoder_layers = s.encoder.number("num_layers", 8);
  m.decoder_layers = s.decoder.number("num_layers", 4);
  m.heads = s.encoder.number("num_heads", 4);
  m.feed_forward = s.encoder.number("ff_size", 2048);
  const int heads = s.decoder.number("num_heads", 8), inner = s.decoder.number("ff_size", 2048);
  for (const auto& [name, size] : {std::pair("num_heads", heads), {"ff_size", inner}})
    require(size >= 1, "{}: {} is {}, expected at least 1", s.decoder.where(), name, size);
  if (heads != m.heads) m.decoder_heads = heads;
  if (inner != m.feed_forward) m.decoder_feed_forward = inner;
}

void set_embeddings(ModelConfig& m, const YamlFields& model, const Sides& s) {
  EmbeddingsConfig& e = m.embeddings;
  const bool sides = model.flag("tied_embeddings"), output = model.flag("tied_softmax");
  e.tied_all = sides && output, e.tied_source = sides && !output, e.tied_output = output && !sides;
  const YamlFields source = s.encoder.section("embeddings");
  const bool scaled = source.flag("scale");
  e.scale = scaled ? 0 : 1;
  if (sides) return;  // the target's are the source's
  const YamlFields target = s.decoder.section("embeddings");
  require(target.flag("scale") == scaled, "{}: scale differs from that of the encoder, expected the same",
          target.where());
}

ModelConfig model_config(const YamlFields& model, const Sides& s) {
  ModelConfig m;
  check_kind(model, s);
  set_sizes(m, s);
  set_embeddings(m, model, s);
  m.activation = joeynmt_activation(s);
  m.norm = placement_of(s);
  m.norm_epsilon = 1e-6;
  m.positions = Positions::interleaved;
  return m;
}

/// Maps the names of the weights of a layer, or of some of them.
class JoeyNmtMapping {
 public:
  JoeyNmtMapping(WeightMapping& weights, const ModelConfig& config) : w_(weights), c_(config) {}

  void all() {
    embeddings();
    for (int l = 0; l < c_.encoder_layers; ++l) {
      const std::string ours = fmt::format("encoder.{}.", l), theirs = fmt::format("encoder.layers.{}.", l);
      attention(ours + "self_attention", theirs + "src_src_att", theirs + "layer_norm");
      feed_forward(ours, theirs + "feed_forward.");
    }
    for (int l = 0; l < c_.decoder_layers; ++l) {
      const std::string ours = fmt::format("decoder.{}.", l), theirs = fmt::format("decoder.layers.{}.", l);
      attention(ours + "self_attention", theirs + "trg_trg_att", theirs + "x_layer_norm");
      attention(ours + "cross_attention", theirs + "src_trg_att", theirs + "dec_layer_norm");
      feed_forward(ours, theirs + "feed_forward.");
    }
    for (const std::string side : {"encoder", "decoder"}) {
      if (c_.has_final_norm()) w_.norm(side + ".norm", side + ".layer_norm");
      w_.ignore(side + ".pe.pe");  // sinusoids
    }
  }

 private:
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs + ".weight", MatrixRows::outputs);
  }
  // Tied matrices are stored under each of their names.
  void embeddings() {
    const EmbeddingsConfig& e = c_.embeddings;
    const std::string source = "src_embed.lut", target = "trg_embed.lut", output = "decoder.output_layer";
    table(e.tied_all ? "embedding" : "source_embedding", source);
    const auto tied = [&](const std::string& copy, const std::string& of) {
      w_.ignore_copy(copy + ".weight", of + ".weight");
    };
    e.ties_source() ? tied(target, source) : table("target_embedding", target);
    e.ties_output() ? tied(output, e.ties_source() ? source : target) : table("output", output);
  }
  void attention(const std::string& ours, const std::string& theirs, const std::string& norm_of_it) {
    for (const auto& [role, name] :
         {std::pair("query", "q_layer"), {"key", "k_layer"}, {"value", "v_layer"}, {"output", "output_layer"}})
      w_.linear(fmt::format("{}.{}", ours, role), fmt::format("{}.{}", theirs, name));
    w_.norm(ours + "_norm", norm_of_it);
  }
  // Of the layers numbered in PyTorch's nn.Sequential, only 0 and 3 have weights.
  void feed_forward(const std::string& ours, const std::string& theirs) {
    w_.linear(ours + "feed_forward.up", theirs + "pwff_layer.0");
    w_.linear(ours + "feed_forward.down", theirs + "pwff_layer.3");
    w_.norm(ours + "feed_forward_norm", theirs + "layer_norm");
  }

  WeightMapping& w_;
  const ModelConfig& c_;
};

}  // namespace

std::optional<ConvertedModel> read_joeynmt(const std::string& path, const std::vector<std::string>& vocabs) {
  const auto files = find_joeynmt_files(path);
  if (!files) return std::nullopt;
  const YamlFields model = files->options.section("model");
  ModelConfig m = model_config(model, {model.section("encoder"), model.section("decoder")});
  const Vocabularies vocabularies = joeynmt_vocabularies(*files, vocabs, m);
  require(!m.embeddings.ties_source() || m.source_vocabulary == m.target_vocabulary,
          "{}: tied_embeddings is set, but the vocabularies differ", model.where());
  validate(m, path);
  const auto file = read_torch(files->checkpoint);
  const auto* checkpoint = file ? file->root().as<PickleDict>() : nullptr;
  require(checkpoint && checkpoint->find("model_state"), "{} is no checkpoint of JoeyNMT: it has no model_state",
          files->checkpoint);
  WeightMapping weights(files->checkpoint,
                        state_dict_tensors(*file, *checkpoint->find("model_state"), files->checkpoint));
  weights.require_rows("src_embed.lut.weight", m.source_vocabulary, "source", joeynmt_list(*files, vocabs, 0));
  weights.require_rows("trg_embed.lut.weight", m.target_vocabulary, "target", joeynmt_list(*files, vocabs, 1));
  JoeyNmtMapping(weights, m).all();
  return ConvertedModel{m, vocabularies, weights.take()};
}

}  // namespace dragoman
