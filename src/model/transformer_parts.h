#pragma once
#include <functional>

#include "model/model.h"
#include "nn/mixture_of_experts.h"
#include "nn/positions.h"
#include "nn/self_attention.h"

namespace dragoman {

/// The positions that a model adds to embeddings, if they are sinusoids.
SinusoidDesign sinusoid_design(const ModelConfig& config);

/// What all models of Transformer layers share: parameters and their names, embeddings with positions, and layers of
/// self-attention and feed-forward with their residuals and norms.
class TransformerParts : public Model {
 public:
  const ModelConfig& config() const override { return config_; }
  Parameters& parameters() override { return parameters_; }

 protected:
  TransformerParts(const ModelConfig& config, Parameters parameters);

  /// Self-attention and feed-forward: a layer of an encoder, or of a decoder without an encoder.
  struct Layer {
    SelfAttention self_attention;
    Norm self_attention_norm;
    FeedForwardLayer feed_forward;
    Norm feed_forward_norm;
  };
  /// Rows of packed sentences: ids, positions, and where sentences begin.
  struct Rows {
    Tensor ids;        // (N) int32
    Tensor positions;  // (N,2) int32: sentence of the corpus, token
    Spans spans;
    Tensor weights = {};      // (N) of each row's sentence in the load loss of experts; empty: all 1
    Var position_table = {};  // (P,D), added to embeddings; or empty
    Tensor rotary = {};       // of self-attention: see SelfRows
    Var bias = {};

    SelfRows self() const { return {spans, positions, rotary, bias}; }
  };

  double gain(int layer) const;            // of initial weights
  MemoryShape memory_of(int layer) const;  // of self-attention
  /// `side`: the configuration of these layers, the model's own or its decoder_side().
  AttentionDesign attention_design(const ModelConfig& side, int layer) const;  // of self-attention
  Norm make_norm(const std::string& name);
  SelfAttention make_self_attention(const ModelConfig& side, const std::string& name, int layer);
  FeedForwardLayer make_feed_forward(const ModelConfig& side, const std::string& name, int layer);
  Layer make_layer(const ModelConfig& side, const std::string& name, int layer);
  /// The parameters of positions of one side, "encoder" or "decoder": learned embeddings (P,D), biases (H,B), or empty.
  Var make_positions(const ModelConfig& side, const std::string& name);

  int64_t last_position() const;                                 // the last position that the model can represent
  Rows rows_of(const PackedIds& ids, const Batch& batch) const;  // ids of the batch: one side, or both joined
  Rows step_rows(std::vector<int32_t> ids, const std::vector<int64_t>& token) const;  // one per hypothesis
  /// Fills in the positional inputs of embedding and self-attention; `table`: see make_positions(). A learned bias that
  /// is already there stays.
  void locate(Context& cx, const Var& table, bool causal, Rows& rows);
  /// For rows with positions; the norm may be null. `word_dropout`: rate of tokens that lose their row of the table.
  Var embed(Context& cx, const Var& table, const Norm* norm, double word_dropout, const Rows& rows);
  /// `weights`: see Rows.
  Var layer(Context& cx, const Layer& p, Var x, const SelfRows& rows, bool causal, const Tensor& weights = {});
  using Function = std::function<Var(const Var&)>;
  Var sublayer(Context& cx, const Norm& norm, const Var& x, const Tensor& positions, const Function& f);

  const ModelConfig config_;
  Parameters parameters_;

 private:
  Sinusoids sinusoids_, rotary_;
  LinearBias bias_;
};

}  // namespace dragoman
