#pragma once
#include <optional>

#include "model/copy_head.h"
#include "model/embeddings.h"
#include "model/model.h"
#include "model/rnn_parts.h"
#include "nn/positions.h"
#include "ops/embedding.h"

namespace dragoman {

/// Recurrent sequence-to-sequence models: an encoder (nn/encoders), a pooling of its states to one vector (nn/poolings)
/// and a recurrent decoder (nn/recurrent_decoders).
class Rnn : public Model {
 public:
  Rnn(const ModelConfig& config, Parameters parameters);

  const ModelConfig& config() const override { return config_; }
  Parameters& parameters() override { return parameters_; }
  TokenLoss loss(Context& cx, const Batch& batch, double label_smoothing) override;
  Tensor logits(Context& cx, const Batch& batch) override;
  std::unique_ptr<Decoding> decode(Context& cx) override;
  bool learns_from_baseline() const override { return attention_ && attention_->kind->learns_from_baseline(); }

 private:
  friend class RnnDecoding;
  struct Encoded {
    Var states;   // (Ns,D)
    Var summary;  // (B,D)
  };
  /// The results for a batch: the encoder's states, and the input of the output layer for each target token.
  struct HiddenStates {
    Var source, target;  // (Ns,D) (Nt,E)
    Tensor signal,
        signal_row;  // (Nt,2), (Nt) int32: of attention that is trained by a signal (SignalledLoss); or empty
  };

  /// y = dropout(√D · table[ids] + position_table[token]); the table of positions may be empty.
  Var embed(Context& cx, EmbeddingInput input, double word_dropout);
  Encoded encode(Context& cx, const PackedIds& source, std::span<const int32_t> sentences);
  RecurrentDecoder::Inputs inputs(Context& cx, const Tensor& ids, const Tensor& positions) {
    return decoder_->inputs(cx, embed(cx, {ids, positions, embeddings_.target, {}}, config_.dropout.target_words),
                            positions);
  }
  /// Reads source and target, all sentences of a step together (model/rnn_unrolled.cpp).
  HiddenStates hidden_states(Context& cx, const Batch& batch, AttentionGuide* guide = nullptr);
  std::vector<RecurrentDecoder::Output> unroll(Context& cx, const Batch& batch, const Var& summary,
                                               const KeysAndValues& keys, const Steps& steps, const Tensor& signal);
  void learn_links(Context& cx, const Batch& batch, const Var& queries, const KeysAndValues& keys, const Steps& steps,
                   AttentionGuide& guide);
  KeysAndValues keys_in_order(Context& cx, const Var& states, const Spans& spans, const std::vector<int>& sentences);
  void show(Context& cx, const Batch& batch, const Var& states, const Var& queries);

  const ModelConfig config_;
  Parameters parameters_;
  Embeddings embeddings_;
  Sinusoids positions_;
  const std::shared_ptr<const Encoder> encoder_;
  const std::shared_ptr<const Pooling> pooling_;
  const std::unique_ptr<const RecurrentDecoder> decoder_;
  const CrossAttention* const attention_;  // the decoder's, or null
  std::optional<CopyHead> copy_;
};

}  // namespace dragoman
