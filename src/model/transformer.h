#pragma once
#include <functional>
#include <optional>

#include "model/model.h"
#include "nn/attention.h"
#include "nn/positions.h"

namespace dragoman {

/// "Attention Is All You Need" (Vaswani et al. 2017), post-norm as printed or pre-norm.
class Transformer : public Model {
 public:
  Transformer(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype, bool gradients);

  const ModelConfig& config() const override { return config_; }
  Parameters& parameters() override { return parameters_; }
  LabelLoss loss(Context& cx, const Batch& batch, double label_smoothing) override;
  Tensor logits(Context& cx, const Batch& batch) override;
  std::unique_ptr<Decoding> decode(Context& cx) override;

 private:
  friend class TransformerDecoding;
  struct EncoderLayer {
    SelfAttention self_attention;
    Norm self_attention_norm;
    FeedForward feed_forward;
    Norm feed_forward_norm;
  };
  struct DecoderLayer {
    SelfAttention self_attention;
    Norm self_attention_norm;
    CrossAttention cross_attention;
    Norm cross_attention_norm;
    FeedForward feed_forward;
    Norm feed_forward_norm;
  };
  /// Rows of one side: ids, where each stands, and where sentences begin.
  struct Rows {
    Tensor ids;     // (N) int32
    Tensor places;  // (N,2) int32: sentence of the corpus, token
    Spans spans;
    Tensor rotary = {}, bias = {};  // of self-attention: see SelfRows

    SelfRows self() const { return {spans, places, rotary, bias}; }
  };

  void make_embeddings();
  void make_layers();
  FeedForward make_feed_forward(const std::string& name, double gain);
  Rows source_rows(const PackedIds& source, std::span<const int32_t> sentences) const;
  Rows target_rows(const Batch& batch) const;  // <s> + all but the last

  Var embed(Context& cx, const Var& table, const Var& learned, Rows& rows);
  Var encode(Context& cx, Rows& source);
  Var encoder_layer(Context& cx, const EncoderLayer& layer, Var x, const Rows& source);
  Var decoder_layer(Context& cx, const DecoderLayer& layer, Var x, const Var& memory, const Rows& target,
                    const Rows& source);
  double gain(int layer) const;  // of initial weights
  AttentionDesign attention_design(int layer) const;
  Var hidden(Context& cx, const Batch& batch);  // (Nt,D): the decoder's output, before the output layer
  using Function = std::function<Var(const Var&)>;
  Var sublayer(Context& cx, const Norm& norm, const Var& x, const Tensor& places, const Function& f);

  const ModelConfig config_;
  Parameters parameters_;
  Var source_embedding_, target_embedding_, output_;  // (V,D) each; the same one where tied
  Var source_positions_, target_positions_;           // (P,D), learned positions only
  Sinusoids sinusoids_, rotary_;
  LinearBias bias_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
  std::optional<Norm> encoder_norm_, decoder_norm_;  // pre-norm only
};

}  // namespace dragoman
