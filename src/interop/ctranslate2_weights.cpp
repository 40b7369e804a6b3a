#include "interop/ctranslate2_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "interop/converted_model.h"
#include "interop/ctranslate2_positions.h"

namespace dragoman {
namespace {

/// Maps the variables of both sides of a model.
class CTranslate2Mapping {
 public:
  CTranslate2Mapping(CTranslate2Bin bin, ModelConfig& config, const std::array<std::string, 2>& lists)
      : v_(std::move(bin)), c_(config), lists_(lists), w_(v_.weights()) {}

  std::vector<TensorEntry> all();

 private:
  std::string resolved(const std::string& name) const { return v_.resolved(name); }
  bool has(const std::string& name) const { return v_.has(name); }
  double number(const std::string& side, const char* name, double otherwise) const {
    return v_.number(side, name, otherwise);
  }
  int whole_number(const std::string& side, const char* name, int otherwise) const {
    return v_.whole_number(side, name, otherwise);
  }

  void sizes();
  void check_flags() const;
  AttentionScore score_of(const std::string& attention, const ModelConfig& side) const;
  void set_scores();
  std::string source_table() const;
  void set_embeddings();
  double embedding_scale(const std::string& side) const;
  void embeddings();
  void side(const std::string& ours, int layers);
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours, resolved(theirs), MatrixRows::outputs);
  }
  void linear(const std::string& ours, const std::string& theirs);
  void norm(const std::string& ours, const std::string& theirs);
  void attention(const std::string& ours, const std::string& theirs, std::initializer_list<const char*> roles);
  void feed_forward(const std::string& ours, const std::string& theirs);
  void scale_outputs(std::vector<TensorEntry>& weights) const;

  CTranslate2Variables v_;
  ModelConfig& c_;
  const std::array<std::string, 2>& lists_;
  WeightMapping& w_;
};

Activation activation_of(int id, const std::string& path) {
  switch (id) {
    case 0:
      return Activation::relu;
    case 1:
      return Activation::gelu_tanh;
    case 2:
      return Activation::swish;
    case 3:
      return Activation::gelu;
    case 4:
      return Activation::gelu_sigmoid;
    default:
      break;
  }
  fail("{}: activation is CTranslate2's {}, expected 0 to 4 (relu, gelu by tanh, swish, gelu, gelu by sigmoid)", path,
       id);
}

// Numbers that make layers compute something that dragoman has no equal of.
void CTranslate2Mapping::check_flags() const {
  static constexpr std::string_view unsupported[] = {"alibi",
                                                     "multi_query_attention",
                                                     "multi_query",
                                                     "merged_encoder_attention",
                                                     "sliding_window",
                                                     "layer_norm_use_residual",
                                                     "final_logit_softcapping"};
  for (const auto& [name, value] : v_.numbers()) {
    const std::string_view last = std::string_view(name).substr(name.rfind('/') + 1);
    require(value == 0 || std::ranges::count(unsupported, last) == 0, "{}: {} is set, which dragoman does not support",
            v_.path(), name);
    const std::string side = name.substr(0, name.find('/'));
    require(last != "num_heads_kv" || value == number(side, "num_heads", 8),
            "{}: {} is {}: heads share keys and values, which dragoman does not support", v_.path(), name, value);
  }
  require(number("encoder", "pre_norm", 1) == number("decoder", "pre_norm", 1),
          "{}: encoder and decoder differ in pre_norm", v_.path());
  require(number("encoder", "activation", 0) == number("decoder", "activation", 0),
          "{}: encoder and decoder differ in activation", v_.path());
}

void CTranslate2Mapping::sizes() {
  const auto rows = [&](const std::string& name) { return int(w_.get(resolved(name)).shape[0]); };
  const auto layers = [&](const char* side) {
    int count = 0;
    while (has(fmt::format("{}/layer_{}/ffn/linear_0/weight", side, count))) ++count;
    return count;
  };
  c_.dim = rows("encoder/layer_0/self_attention/linear_1/weight");
  c_.encoder_layers = layers("encoder"), c_.decoder_layers = layers("decoder");
  for (const char* side : {"encoder", "decoder"})
    require(whole_number(side, "num_heads", 8) >= 1, "{}: {}/num_heads is 0, expected at least 1", v_.path(), side);
  c_.heads = whole_number("encoder", "num_heads", 8);
  if (const int heads = whole_number("decoder", "num_heads", 8); heads != c_.heads) c_.decoder_heads = heads;
  c_.feed_forward = rows("encoder/layer_0/ffn/linear_0/weight");
  if (const int inner = rows("decoder/layer_0/ffn/linear_0/weight"); inner != c_.feed_forward)
    c_.decoder_feed_forward = inner;
  c_.gated_feed_forward = has("encoder/layer_0/ffn/linear_0_noact/weight");
  const int keys = rows("encoder/layer_0/self_attention/linear_0.0/weight");
  require(keys % c_.heads == 0, "{}: {} rows of queries cannot be divided among {} heads", v_.path(), keys, c_.heads);
  if (keys != c_.dim) c_.key_size = keys / c_.heads;
  c_.alignment = alignment_config(int(number("decoder", "alignment_layer", -1)),
                                  whole_number("decoder", "alignment_heads", 1), c_.decoder_layers);
  c_.activation = activation_of(whole_number("encoder", "activation", 0), v_.path());
  c_.norm = number("encoder", "pre_norm", 1) != 0 ? NormPlacement::pre : NormPlacement::post;
  const bool has_final = has("encoder/layer_norm/gamma");
  if (has_final != (c_.norm == NormPlacement::pre)) c_.final_norm = has_final ? FinalNorm::always : FinalNorm::never;
  c_.embedding_norm = has("encoder/layernorm_embedding/gamma");
  if (!has("encoder/layer_0/ffn/layer_norm/beta")) c_.norm_kind = NormKind::rms;
}

// Dot products are multiplied by queries_scale: by 1 in T5, otherwise by K^-½.
AttentionScore CTranslate2Mapping::score_of(const std::string& attention, const ModelConfig& side) const {
  const auto is = [](double scale, double expected) { return std::abs(scale - expected) < 1e-4 * expected; };
  const int standard = side.dim / side.heads;
  const double size = number(attention, "head_dim", standard),
               scale = number(attention, "queries_scale", 1 / std::sqrt(size)), usual = 1 / std::sqrt(side.head_keys());
  require(is(scale, 1) || is(scale, usual), "{}: {}/queries_scale is {:.5g}, expected 1 or {:.5g}", v_.path(),
          attention, scale, usual);
  return is(scale, usual) ? AttentionScore::scaled_dot : AttentionScore::dot;
}

void CTranslate2Mapping::set_scores() {
  const std::string first = "encoder/layer_0/self_attention";
  c_.attention.score = score_of(first, c_);
  const auto check = [&](const std::string& attention, const ModelConfig& side) {
    require(score_of(attention, side) == c_.attention.score, "{}: {} and {} differ in queries_scale", v_.path(), first,
            attention);
  };
  for (int l = 0; l < c_.encoder_layers; ++l) check(fmt::format("encoder/layer_{}/self_attention", l), c_);
  for (int l = 0; l < c_.decoder_layers; ++l)
    for (const char* kind : {"self_attention", "attention"})
      check(fmt::format("decoder/layer_{}/{}", l, kind), c_.decoder_side());
}

// Older files have one source table, newer ones a list. CTranslate2 looks for the names in this order.
std::string CTranslate2Mapping::source_table() const {
  const std::string single = "encoder/embeddings/weight";
  return has(single) ? single : "encoder/embeddings_0/weight";
}

// Matrices are tied if their names resolve to the same variable.
void CTranslate2Mapping::set_embeddings() {
  const std::string source = resolved(source_table()), target = resolved("decoder/embeddings/weight"),
                    output = resolved("decoder/projection/weight");
  EmbeddingsConfig& e = c_.embeddings;
  e.tied_all = source == target && target == output;
  e.tied_source = !e.tied_all && source == target;
  e.tied_output = !e.tied_all && target == output;
  e.output_bias = has("decoder/projection/bias");
  e.scale = embedding_scale("encoder");
  require(e.scale == embedding_scale("decoder"), "{}: encoder and decoder scale embeddings differently", v_.path());
}

// The scale is stored as a factor or as a flag; older files store the flag elsewhere. 0: the square root of D.
double CTranslate2Mapping::embedding_scale(const std::string& side) const {
  for (const char* name : {"/scale_embeddings", "/embeddings/multiply_by_sqrt_depth"}) {
    const auto found = v_.numbers().find(side + name);
    if (found == v_.numbers().end()) continue;
    const double factor = found->second;
    if (v_.is_flag(side + name)) return factor != 0 ? 0 : 1;
    return std::abs(factor - std::sqrt(c_.dim)) < 1e-3 * factor ? 0 : factor;
  }
  return 0;
}

void CTranslate2Mapping::embeddings() {
  const EmbeddingsConfig& e = c_.embeddings;
  w_.require_rows(resolved(source_table()), c_.source_vocabulary, "source", lists_[0]);
  w_.require_rows(resolved("decoder/embeddings/weight"), c_.target_vocabulary, "target", lists_[1]);
  if (e.tied_all) return table("embedding.weight", source_table());
  table("source_embedding.weight", source_table());
  if (!e.ties_source()) table("target_embedding.weight", "decoder/embeddings/weight");
  if (!e.ties_output()) table("output.weight", "decoder/projection/weight");
}

void CTranslate2Mapping::linear(const std::string& ours, const std::string& theirs) {
  table(ours + ".weight", theirs + "/weight");
  const std::string bias = resolved(theirs + "/bias");
  if (w_.has(bias))
    w_.vector(ours + ".bias", bias);
  else
    w_.zeros(ours + ".bias", w_.get(resolved(theirs + "/weight")).shape[0]);
}

void CTranslate2Mapping::norm(const std::string& ours, const std::string& theirs) {
  w_.vector(ours + ".weight", resolved(theirs + "/gamma"));
  if (c_.norm_kind != NormKind::rms) w_.vector(ours + ".bias", resolved(theirs + "/beta"));
}

void CTranslate2Mapping::attention(const std::string& ours, const std::string& theirs,
                                   std::initializer_list<const char*> names) {
  const char* roles[] = {"query", "key", "value", "output"};
  int role = 0;
  for (const char* name : names) linear(fmt::format("{}.{}", ours, roles[role++]), theirs + "/" + name);
  norm(ours + "_norm", theirs + "/layer_norm");
}

void CTranslate2Mapping::feed_forward(const std::string& ours, const std::string& theirs) {
  if (c_.gated_feed_forward) linear(ours + ".gate", theirs + "/linear_0");
  linear(ours + ".up", theirs + (c_.gated_feed_forward ? "/linear_0_noact" : "/linear_0"));
  linear(ours + ".down", theirs + "/linear_1");
  norm(ours + "_norm", theirs + "/layer_norm");
}

void CTranslate2Mapping::side(const std::string& name, int layers) {
  for (int l = 0; l < layers; ++l) {
    const std::string ours = fmt::format("{}.{}.", name, l), theirs = fmt::format("{}/layer_{}/", name, l);
    attention(ours + "self_attention", theirs + "self_attention",
              {"linear_0.0", "linear_0.1", "linear_0.2", "linear_1"});
    if (name == "decoder")
      attention(ours + "cross_attention", theirs + "attention", {"linear_0", "linear_1.0", "linear_1.1", "linear_2"});
    feed_forward(ours + "feed_forward", theirs + "ffn");
  }
  if (c_.embedding_norm) norm(name + ".embedding_norm", name + "/layernorm_embedding");
  if (c_.has_final_norm()) norm(name + ".norm", name + "/layer_norm");
}

// T5 multiplies the input of an output layer that is tied to the embeddings.
void CTranslate2Mapping::scale_outputs(std::vector<TensorEntry>& weights) const {
  const double factor = number("decoder", "scale_outputs", 1);
  if (factor == 1) return;
  require(c_.has_final_norm(), "{}: decoder/scale_outputs is set without a norm of the decoder's outputs", v_.path());
  for (TensorEntry& weight : weights)
    if (weight.name == "decoder.norm.weight" || weight.name == "decoder.norm.bias")
      weight = scaled_vector(weight, factor);
}

std::vector<TensorEntry> CTranslate2Mapping::all() {
  check_flags();
  sizes();
  set_scores();
  set_embeddings();
  set_ctranslate2_positions(v_, c_);
  embeddings();
  if (c_.embeddings.output_bias) w_.vector("output.bias", resolved("decoder/projection/bias"));
  side("encoder", c_.encoder_layers), side("decoder", c_.decoder_layers);
  std::vector<TensorEntry> weights = w_.take();
  scale_outputs(weights);
  return weights;
}

}  // namespace

std::vector<TensorEntry> ctranslate2_weights(CTranslate2Bin bin, ModelConfig& config,
                                             const std::array<std::string, 2>& lists) {
  return CTranslate2Mapping(std::move(bin), config, lists).all();
}

}  // namespace dragoman
