#pragma once
#include "model/copy_head.h"
#include "model/embeddings.h"
#include "model/transformer_parts.h"
#include "nn/autoregression/autoregressive_layer.h"
#include "nn/cross_attention.h"

namespace dragoman {

/// "Attention Is All You Need" (Vaswani et al. 2017), post-norm as printed or pre-norm.
class Transformer : public TransformerParts {
 public:
  Transformer(const ModelConfig& config, Parameters parameters);

  TokenLoss loss(Context& cx, const Batch& batch, double label_smoothing) override;
  Tensor logits(Context& cx, const Batch& batch) override;
  std::unique_ptr<Decoding> decode(Context& cx) override;

 private:
  friend class TransformerDecoding;
  struct DecoderLayer {
    AutoregressiveLayer autoregression;
    Norm autoregression_norm;
    CrossAttention cross_attention;
    Norm cross_attention_norm;
    FeedForwardLayer feed_forward;
    Norm feed_forward_norm;
  };

  void make_layers();
  DecoderLayer make_decoder_layer(const ModelConfig& side, int layer);
  AutoregressiveLayer make_autoregression(const ModelConfig& side, const std::string& name, int layer);

  Var encode(Context& cx, Rows& source);
  Var embed_target(Context& cx, const Rows& rows);  // of rows with positions
  Var decoder_layer(Context& cx, const DecoderLayer& layer, Var x, const Var& encoded, const Rows& target,
                    const Rows& source, AttentionGuide* guide = nullptr);
  bool steps_on_the_device() const;  // whether the host decides nothing between the kernels of a decoding step
  /// The outputs of both sides: (Ns,D), and (Nt,D) before the output layer.
  struct HiddenStates {
    Var encoded, x;
  };
  /// `guide`: what the attention of the configuration's alignment layer learns; or null.
  HiddenStates hidden_states(Context& cx, const Batch& batch, AttentionGuide* guide = nullptr);

  Embeddings embeddings_;
  Var source_positions_, target_positions_;  // (P,D), learned positions only
  std::vector<Layer> encoder_;
  std::vector<DecoderLayer> decoder_;
  std::optional<Norm> source_norm_, target_norm_;    // of embeddings
  std::optional<Norm> encoder_norm_, decoder_norm_;  // of the outputs
  std::optional<CopyHead> copy_;
};

}  // namespace dragoman
