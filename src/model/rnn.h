#pragma once
#include <functional>
#include <optional>

#include "model/copy_head.h"
#include "model/embeddings.h"
#include "model/model.h"
#include "nn/convolution.h"
#include "nn/cross_attention.h"
#include "nn/pooling.h"
#include "nn/positions.h"
#include "nn/recurrent.h"

namespace dragoman {

/// Recurrent sequence-to-sequence models: an encoder of recurrent layers, read from one side (Sutskever et al. 2014) or
/// from both, or of convolutions, and a recurrent decoder that attends before each step (Bahdanau et al. 2015), after
/// it (Luong et al. 2015) or not at all. What the output layer reads is tanh(W_h h + W_c c + W_y y) of the state h,
/// what attention gave c, and the word before y; Luong's models leave y out.
class Rnn : public Model {
 public:
  Rnn(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype, bool gradients);

  const ModelConfig& config() const override { return config_; }
  Parameters& parameters() override { return parameters_; }
  TokenLoss loss(Context& cx, const Batch& batch, double label_smoothing) override;
  Tensor logits(Context& cx, const Batch& batch) override;
  std::unique_ptr<Decoding> decode(Context& cx) override;

 private:
  friend class RnnDecoding;
  struct BothDirections {
    Var forward, backward;  // (N,D/2) each, or (N,D) and none

    Var joined(Context& cx) const;  // (N,D)
  };
  struct EncoderLayer {
    Recurrence forward;
    std::optional<Recurrence> backward;

    BothDirections operator()(Context& cx, const Var& x, const Steps& first, const Steps& second) const;
  };
  /// From words to sentences to one vector a line (Yang et al. 2016, "Hierarchical Attention Networks for Document
  /// Classification"): the encoder reads each sentence by itself, and this what attention makes of them.
  struct Hierarchy {
    AttentionPooling words;
    EncoderLayer layer;
    AttentionPooling sentences;
  };
  struct Encoded {
    Var memory;   // (Ns,D)
    Var summary;  // (B,D)
  };
  /// What a decoder remembers from step to step.
  struct State {
    std::vector<CellState> layers;
    Var feed;  // (n,E) of Luong's: what the output layer read; empty: zeros
  };
  /// The tokens of n sentences that a step reads: their part of the first layer's gates, embeddings and positions.
  struct StepWords {
    Var gates, embedded;  // (n,G·D) (n,E)
    Tensor positions;     // (n,2)
  };
  struct StepOutput {
    State state;
    Var query;   // (n,D) that attended, or empty
    Var output;  // (n,E)
  };
  using Attend = std::function<Var(const Var& query)>;
  /// What the queries of a step have in common.
  struct StepPositions {
    Tensor positions;  // (n,2)
    int64_t t;         // of each in its sentence
    Tensor signal;     // (n,2) of hard attention, under a tape
  };

  void make_encoder();
  void make_recurrent_encoder();
  EncoderLayer make_encoder_layer(const std::string& name, int64_t inputs);
  void make_decoder();
  AttentionDesign attention_design() const;
  bool luong() const { return config_.rnn.decoder.attention == RnnAttention::luong; }

  Var embed(Context& cx, const Var& table, const Tensor& ids, const Tensor& positions,
            const Var& position_table = Var());
  Encoded encode(Context& cx, const PackedIds& source, std::span<const int32_t> sentences);
  Encoded encode_rows(Context& cx, const Tensor& ids, const Tensor& positions, const Spans& spans);
  Encoded recur(Context& cx, Var x, const Spans& spans, const Tensor& positions);
  Encoded convolve(Context& cx, Var x, const Spans& spans, const Tensor& positions);
  Var summary(Context& cx, const Var& memory, const Var& forward, const Var& backward, const Spans& spans);
  Var summary_of_sentences(Context& cx, const Var& x, const Spans& lines, std::span<const int32_t> numbers);
  State first_state(Context& cx, const Var& summary);
  StepWords words(Context& cx, const Tensor& ids, const Tensor& positions);
  StepOutput step(Context& cx, const StepWords& words, const State& before, const Attend& attend);
  Var read(Context& cx, const Var& h, const Var& context, const StepWords& words);

  KeysAndValues keys_in_order(Context& cx, const Var& memory, const Spans& spans, const std::vector<int>& sentences);
  Var attend(Context& cx, const Var& query, const KeysAndValues& keys, const StepPositions& at);
  std::vector<StepOutput> unroll(Context& cx, const Batch& batch, const Encoded& source, const Steps& steps,
                                 const Tensor& signal);
  Var in_target_order(Context& cx, const std::vector<StepOutput>& done, Var StepOutput::*part, const Steps& steps);
  /// What both sides end with, and what hard attention is told afterwards.
  struct HiddenStates {
    Var memory, x;             // (Ns,D), and (Nt,E) that the output layer reads
    Tensor signal, positions;  // (Nt,2), in the order of steps, and where in it each target row is (Nt); or empty
  };
  HiddenStates hidden_states(Context& cx, const Batch& batch);
  void show(Context& cx, const Batch& batch, const Encoded& source, const Var& queries);

  const ModelConfig config_;
  Parameters parameters_;
  Embeddings embeddings_;
  std::vector<EncoderLayer> encoder_;  // of recurrent layers, or …
  Linear encoder_input_;               // … (D,E): what convolutions begin with
  std::vector<GatedConvolution> convolutions_;
  Sinusoids positions_;
  Var pooling_query_;  // (1,D), pooling by attention only
  std::optional<Hierarchy> hierarchy_;
  std::vector<Linear> initial_;
  std::vector<Recurrence> decoder_;
  std::optional<CrossAttention> attention_;
  Var feed_;                      // (G·D,D or E): what attention says to the first layer's gates
  Linear read_state_;             // (E,D)
  Var read_context_, read_word_;  // (E,D) (E,E)
  std::optional<CopyHead> copy_;
};

}  // namespace dragoman
