#include "interop/fairseq_weights.h"

#include <fmt/format.h>

namespace dragoman {
namespace {

// Rows of the table of learned positions before position 0: fairseq counts positions from the id of <pad>, 1.
constexpr int unused_positions = 2;

/// Maps the names of the weights of a layer, or of some of them.
class FairseqMapping {
 public:
  FairseqMapping(WeightMapping& weights, const ModelConfig& config, std::string prefix)
      : w_(weights), c_(config), prefix_(std::move(prefix)) {}

  void all() {
    side("encoder"), side("decoder");
    for (int l = 0; l < c_.encoder_layers; ++l) {
      const std::string ours = fmt::format("encoder.{}.", l), theirs = fmt::format("{}encoder.layers.{}.", prefix_, l);
      attention(ours + "self_attention", theirs + "self_attn");
      feed_forward(ours, theirs);
    }
    for (int l = 0; l < c_.decoder_layers; ++l) {
      const std::string ours = fmt::format("decoder.{}.", l), theirs = fmt::format("{}decoder.layers.{}.", prefix_, l);
      attention(ours + "self_attention", theirs + "self_attn");
      attention(ours + "cross_attention", theirs + "encoder_attn");
      feed_forward(ours, theirs);
    }
  }

 private:
  // Sinusoids may also be stored.
  void side(const std::string& ours) {
    const std::string theirs = prefix_ + ours, positions = theirs + ".embed_positions.weight";
    if (c_.positions == Positions::learned)
      w_.rows(ours + ".positions.weight", positions, unused_positions, c_.max_positions);
    else
      for (const char* stored : {".weight", ".weights"}) w_.ignore(theirs + ".embed_positions" + stored);
    if (c_.embedding_norm) w_.norm(ours + ".embedding_norm", theirs + ".layernorm_embedding");
    if (c_.has_final_norm()) w_.norm(ours + ".norm", theirs + ".layer_norm");
  }
  void norm(const std::string& ours, const std::string& theirs) { w_.norm(ours + "_norm", theirs + "_layer_norm"); }
  void attention(const std::string& ours, const std::string& theirs) {
    for (const auto& [role, letter] : {std::pair("query", "q"), {"key", "k"}, {"value", "v"}, {"output", "out"}})
      w_.linear(fmt::format("{}.{}", ours, role), fmt::format("{}.{}_proj", theirs, letter));
    norm(ours, theirs);
  }
  void feed_forward(const std::string& ours, const std::string& theirs) {
    w_.linear(ours + "feed_forward.up", theirs + "fc1");
    w_.linear(ours + "feed_forward.down", theirs + "fc2");
    norm(ours + "feed_forward", theirs + "final");
  }

  WeightMapping& w_;
  const ModelConfig& c_;
  const std::string prefix_;
};

}  // namespace

void map_fairseq_weights(WeightMapping& weights, const ModelConfig& config, const std::string& prefix) {
  FairseqMapping(weights, config, prefix).all();
}

}  // namespace dragoman
