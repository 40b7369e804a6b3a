#pragma once
#include "model/transformer_parts.h"

namespace dragoman {

/// One stack that reads <s>, the source with its </s>, and the target: a language model that continues where the source
/// ends (Liu et al. 2018, "Generating Wikipedia by Summarizing Long Sequences", section 4.2.3, T-D). Both sides share
/// one vocabulary and one sequence of positions; the source's </s> separates them.
class DecoderOnly : public TransformerParts {
 public:
  DecoderOnly(const ModelConfig& config, Parameters parameters);

  TokenLoss loss(Context& cx, const Batch& batch, double label_smoothing) override;
  Tensor logits(Context& cx, const Batch& batch) override;
  std::unique_ptr<Decoding> decode(Context& cx) override;

 private:
  friend class DecoderOnlyDecoding;
  struct Joined {
    PackedIds input;                   // <s>, source, target without its last id
    std::vector<int32_t> targets;      // of every row: the id that comes next
    std::vector<int32_t> target_rows;  // the rows that predict target tokens
  };
  Joined joined(const Batch& batch) const;
  Var hidden(Context& cx, const Joined& text, const Batch& batch);  // (N,D) before the output layer

  Var embedding_;         // (V,D)
  OutputWeights output_;  // (V,D), the embedding where tied
  Var positions_;         // (P,D), learned positions only
  std::vector<Layer> layers_;
  std::optional<Norm> norm_;  // of the output
};

}  // namespace dragoman
