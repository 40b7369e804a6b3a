#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "interop/weight_mapping.h"
#include "model/config.h"

namespace dragoman {

/// The tensor with the model's options.
inline constexpr const char* marian_options_tensor = "special:model.yml";

/// Pairs our weights with Marian's. `Weights` has the functions of WeightMapping (weight_mapping.h), each of which
/// reads or writes one weight.
template <class Weights>
class MarianNames {
 public:
  /// `layers`: the numbers of decoder layers in Marian's names; empty: from 1 on.
  MarianNames(Weights& weights, const ModelConfig& config, std::vector<int> layers = {})
      : w_(weights), c_(config), layers_(std::move(layers)) {}

  void all() {
    embeddings();
    encoder();
    decoder();
  }

 private:
  // `ours` and `theirs` name a layer, or a group of weights in it.
  void embeddings() {
    const bool shared = c_.embeddings.ties_source();
    const std::string source = shared ? "Wemb" : "encoder_Wemb", target = shared ? "Wemb" : "decoder_Wemb";
    const bool one = shared && c_.embeddings.ties_output();
    table(one ? "embedding" : "source_embedding", source);
    if (!shared) table("target_embedding", target);
    if (!c_.embeddings.ties_output()) output_matrix();
    if (c_.embeddings.output_bias) w_.vector("output.bias", "decoder_ff_logit_out_b");
  }

  void encoder() {
    side_norms("encoder");
    for (int l = 0; l < c_.encoder_layers; ++l) {
      const std::string ours = fmt::format("encoder.{}.", l), theirs = fmt::format("encoder_l{}_", l + 1);
      attention(ours + "self_attention", theirs + "self");
      feed_forward(ours + "feed_forward", theirs + "ffn");
    }
  }

  void decoder() {
    side_norms("decoder");
    for (int l = 0; l < c_.decoder_layers; ++l) {
      if (c_.weights_of_decoder_layer(l) != l) continue;
      const std::string ours = fmt::format("decoder.{}.", l), theirs = fmt::format("decoder_l{}_", number_of(l));
      autoregression(ours, theirs);
      attention(ours + "cross_attention", theirs + "context");
      feed_forward(ours + "feed_forward", theirs + "ffn");
    }
  }

  int number_of(int decoder_layer) const {
    return layers_.empty() ? decoder_layer + 1 : layers_[size_t(decoder_layer)];
  }
  bool pre() const { return c_.norm == NormPlacement::pre; }

  void linear(const std::string& ours, const std::string& weight, const std::string& bias) {
    w_.matrix(ours + ".weight", weight, MatrixRows::inputs);
    w_.vector(ours + ".bias", bias);
  }
  void norm(const std::string& ours, const std::string& theirs, const char* suffix) {
    w_.vector(ours + ".weight", theirs + "_ln_scale" + suffix);
    w_.vector(ours + ".bias", theirs + "_ln_bias" + suffix);
  }
  void sublayer_norm(const std::string& ours, const std::string& theirs) {
    norm(ours + "_norm", theirs, pre() ? "_pre" : "");
  }
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs, MatrixRows::outputs);
  }
  // Older files store the matrix transposed.
  void output_matrix() {
    if (w_.has("decoder_ff_logit_out_W"))
      w_.matrix("output.weight", "decoder_ff_logit_out_W", MatrixRows::inputs);
    else
      w_.matrix("output.weight", "decoder_ff_logit_out_Wt", MatrixRows::outputs);
  }
  void side_norms(const std::string& side) {
    if (c_.embedding_norm) norm(side + ".embedding_norm", side + "_emb", "_pre");
    if (c_.has_final_norm()) norm(side + ".norm", side + "_top", "");
  }

  void attention(const std::string& ours, const std::string& theirs) {
    for (const auto& [role, letter] : {std::pair("query", 'q'), {"key", 'k'}, {"value", 'v'}})
      linear(fmt::format("{}.{}", ours, role), fmt::format("{}_W{}", theirs, letter),
             fmt::format("{}_b{}", theirs, letter));
    if (c_.attention.projects_result) linear(ours + ".output", theirs + "_Wo", theirs + "_bo");
    sublayer_norm(ours, theirs + "_Wo");
  }
  void feed_forward(const std::string& ours, const std::string& theirs) {
    linear(ours + ".up", theirs + "_W1", theirs + "_b1");
    linear(ours + ".down", theirs + "_W2", theirs + "_b2");
    sublayer_norm(ours, theirs + "_ffn");
  }
  void autoregression(const std::string& ours, const std::string& theirs) {
    switch (c_.autoregression) {
      case Autoregression::self_attention:
        return attention(ours + "self_attention", theirs + "self");
      case Autoregression::average_attention:
        return average_attention(ours + "average_attention", theirs + "aan");
      case Autoregression::rnn:
        return ssru(ours + "rnn", theirs + "rnn");
    }
  }
  void average_attention(const std::string& ours, const std::string& theirs) {
    linear(ours + ".feed_forward.up", theirs + "_W1", theirs + "_b1");
    linear(ours + ".feed_forward.down", theirs + "_W2", theirs + "_b2");
    if (c_.average.gates) {
      linear(ours + ".input_gate", theirs + "_Wi", theirs + "_bi");
      linear(ours + ".forget_gate", theirs + "_Wf", theirs + "_bf");
    }
    sublayer_norm(ours, theirs + "_ffn");
  }
  // In Marian, the product of the state has no bias.
  void ssru(const std::string& ours, const std::string& theirs) {
    const std::string gate = ours + ".forget_gate", norm = c_.rnn.norm ? "_norm" : "";
    w_.matrix(ours + ".state.weight", theirs + "_W", MatrixRows::inputs);
    w_.matrix(gate + ".weight", theirs + "_Wf", MatrixRows::inputs);
    w_.zeros(ours + ".state" + norm + ".bias", c_.dim);
    w_.vector(gate + norm + ".bias", theirs + "_bf");
    if (c_.rnn.norm) {
      w_.vector(ours + ".state_norm.weight", theirs + "_gamma");
      w_.vector(gate + "_norm.weight", theirs + "_gammaf");
    }
    sublayer_norm(ours, pre() ? theirs : theirs + "_ffn");
  }

  Weights& w_;
  const ModelConfig& c_;
  const std::vector<int> layers_;
};

}  // namespace dragoman
