#include "model/rnn.h"

#include <cmath>

#include "backend/backend.h"
#include "model/guided_alignment.h"
#include "model/sentences.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

const ModelConfig& with_vocabularies(const ModelConfig& config) {
  require(config.source_vocabulary > 0 && config.target_vocabulary > 0, "a model needs the sizes of its vocabularies");
  return config;
}

}  // namespace

Rnn::Rnn(const ModelConfig& config, Parameters parameters)
    : config_(with_vocabularies(config)),
      parameters_(std::move(parameters)),
      embeddings_(Embeddings::make(parameters_, config)),
      positions_({.dim = config.dim}, parameters_.dtype()),
      encoder_(make_encoder(parameters_, config)),
      pooling_(make_pooling(parameters_, config)),
      decoder_(make_decoder(parameters_, config)),
      attention_(decoder_->attention()) {
  if (config_.copies) copy_ = make_copy_head(parameters_, config_, config_.rnn.dim);
}

Var Rnn::embed(Context& cx, EmbeddingInput input, double word_dropout) {
  const double rate = config_.dropout.embedding < 0 ? config_.dropout.rnn : config_.dropout.embedding;
  input.scale = std::sqrt(double(config_.dim));
  if (word_dropout > 0) input.words = cx.dropout(word_dropout, input.positions);
  return embedding(cx, input, cx.dropout(rate, input.positions));
}

Rnn::Encoded Rnn::encode(Context& cx, const PackedIds& source, std::span<const int32_t> sentences) {
  const bool many = config_.rnn.encoder.pooling == EncoderPooling::hierarchical;
  const SentencesOfLines split = many ? sentences_of(source, config_.rnn.encoder.sentence_ends)
                                      : SentencesOfLines{source.spans, Spans::one_row_each(source.spans.sentences())};
  const Tensor ids = int_tensor(source.ids, {source.spans.rows()});
  const Tensor positions = positions_of(source.spans, sentences, any_position);
  Var position_table;  // convolutions do not see the order of rows
  if (config_.rnn.encoder.type == EncoderType::convolutional && sinusoids_added(config_.positions))
    position_table = Var(positions_.table(cx.arena, cx.backend, source.spans.longest()));
  const Var x = embed(cx, {ids, positions, embeddings_.source, position_table}, config_.dropout.source_words);
  const EncoderStates states = (*encoder_)(cx, x, split.rows, positions);
  return {states.all,
          (*pooling_)(cx, states, {split.rows, split.lines, positions_of(split.lines, sentences, any_position)})};
}

TokenLoss Rnn::loss(Context& cx, const Batch& batch, double label_smoothing) {
  AttentionGuide guide{cx.tape ? attention_links(batch) : std::vector<AttentionLink>()};
  const HiddenStates hidden = hidden_states(cx, batch, guide.links.empty() ? nullptr : &guide);
  const Var& x = hidden.target;
  const Tensor weights = batch.row_weights(batch.target.spans);
  TokenLoss loss = linear_cross_entropy(cx, x, embeddings_.output_weights(),
                                        {.ids = int_tensor(batch.target.ids, {x.rows()}),
                                         .smoothing = label_smoothing,
                                         .weights = weights,
                                         .copying = copy_ ? (*copy_)(cx, x, hidden.source, batch) : Copying{}});
  if (attention_)
    attention_->reward(cx, {hidden.signal, loss.loss, weights, hidden.signal_row, batch.target.spans, baseline()});
  loss.of_links = guide.loss;
  return loss;
}

Tensor Rnn::logits(Context& cx, const Batch& batch) {
  const HiddenStates hidden = hidden_states(cx, batch);
  const Var logits = linear(cx, hidden.target, embeddings_.output, embeddings_.output_bias);
  return copy_ ? mix_copies(cx, *copy_, batch, hidden.target, hidden.source, logits) : logits;
}

}  // namespace dragoman
