#include "model/transformer.h"

#include <algorithm>

#include "model/guided_alignment.h"
#include "ops/linear.h"

namespace dragoman {

Transformer::Transformer(const ModelConfig& config, Parameters parameters)
    : TransformerParts(config, std::move(parameters)), embeddings_(Embeddings::make(parameters_, config)) {
  source_positions_ = make_positions(config_, "encoder");
  target_positions_ = make_positions(config_.decoder_side(), "decoder");
  make_layers();
  if (config_.copies) copy_ = make_copy_head(parameters_, config_, config_.dim);
}

void Transformer::make_layers() {
  const ModelConfig decoder_side = config_.decoder_side();
  if (config_.embedding_norm) {
    source_norm_ = make_norm("encoder.embedding_norm");
    target_norm_ = make_norm("decoder.embedding_norm");
  }
  for (int l = 0; l < config_.encoder_layers; ++l)
    encoder_.push_back(make_layer(config_, fmt::format("encoder.{}", l), l));
  for (int l = 0; l < config_.decoder_layers; ++l) {
    const int owner = config_.weights_of_decoder_layer(l);
    decoder_.push_back(owner < l ? decoder_[size_t(owner)] : make_decoder_layer(decoder_side, l));
  }
  if (!config_.has_final_norm()) return;
  encoder_norm_ = make_norm("encoder.norm");
  decoder_norm_ = make_norm("decoder.norm");
}

AutoregressiveLayer Transformer::make_autoregression(const ModelConfig& side, const std::string& name, int layer) {
  switch (config_.autoregression) {
    case Autoregression::self_attention:
      return {make_self_attention(side, name, layer)};
    case Autoregression::average_attention:
      return {AverageAttention::make(parameters_, name, config_.dim,
                                     {.feed_forward = config_.average.feed_forward,
                                      .activation = config_.average.activation,
                                      .gated = config_.average.gates,
                                      .dropout = config_.dropout.activation,
                                      .gain = gain(layer)})};
    case Autoregression::rnn:
      return {Ssru::make(parameters_, name, config_.dim, gain(layer), config_.rnn.norm)};
  }
  fail("unknown kind of autoregression {}", name_of(config_.autoregression));
}

// With experts, copying or keys made from positions, the host computes between kernels.
bool Transformer::steps_on_the_device() const {
  for (int l = 0; l < config_.decoder_layers; ++l)
    if (config_.has_experts(l)) return false;
  return !copy_ && !score_kind(config_.attention.score).keys_from_positions;
}

Transformer::DecoderLayer Transformer::make_decoder_layer(const ModelConfig& side, int layer) {
  const std::string at = fmt::format("decoder.{}.", layer);
  std::string autoregression(name_of(config_.autoregression));  // also the name of its parameters
  std::ranges::replace(autoregression, '-', '_');
  AttentionDesign cross = attention_design(side, layer);
  cross.relative = 0, cross.relative_values = false;
  cross.window = config_.attention.local > 0 ? config_.attention.local : -1;
  return {make_autoregression(side, at + autoregression, layer),
          make_norm(at + autoregression + "_norm"),
          CrossAttention::make(parameters_, at + "cross_attention", config_.dim, cross),
          make_norm(at + "cross_attention_norm"),
          make_feed_forward(side, at + "feed_forward", layer),
          make_norm(at + "feed_forward_norm")};
}

Var Transformer::decoder_layer(Context& cx, const DecoderLayer& p, Var x, const Var& encoded, const Rows& target,
                               const Rows& source, AttentionGuide* guide) {
  x = sublayer(cx, p.autoregression_norm, x, target.positions,
               [&](const Var& y) { return p.autoregression(cx, y, target.self()); });
  x = sublayer(cx, p.cross_attention_norm, x, target.positions, [&](const Var& y) {
    return p.cross_attention(cx, {.x = y, .spans = target.spans, .positions = target.positions, .guide = guide},
                             p.cross_attention.keys_and_values(cx, encoded, source.spans, source.positions));
  });
  return sublayer(cx, p.feed_forward_norm, x, target.positions,
                  [&](const Var& y) { return p.feed_forward(cx, y, target.positions, target.weights); });
}

Var Transformer::encode(Context& cx, Rows& source) {
  locate(cx, source_positions_, false, source);
  Var x = embed(cx, embeddings_.source, source_norm_ ? &*source_norm_ : nullptr, config_.dropout.source_words, source);
  for (const Layer& p : encoder_) x = layer(cx, p, x, source.self(), false, source.weights);
  return encoder_norm_ ? (*encoder_norm_)(cx, x) : x;
}

Var Transformer::embed_target(Context& cx, const Rows& rows) {
  return embed(cx, embeddings_.target, target_norm_ ? &*target_norm_ : nullptr, config_.dropout.target_words, rows);
}

Transformer::HiddenStates Transformer::hidden_states(Context& cx, const Batch& batch, AttentionGuide* guide) {
  Rows source = rows_of(batch.source, batch), target = rows_of(shifted(batch.target, config_.first_token()), batch);
  const Var encoded = encode(cx, source);
  locate(cx, target_positions_, true, target);
  Var x = embed_target(cx, target);
  for (size_t l = 0; l < decoder_.size(); ++l)
    x = decoder_layer(cx, decoder_[l], x, encoded, target, source,
                      int(l) == config_.alignment.layer_of(config_.decoder_layers) ? guide : nullptr);
  return {encoded, decoder_norm_ ? (*decoder_norm_)(cx, x) : x};
}

TokenLoss Transformer::loss(Context& cx, const Batch& batch, double label_smoothing) {
  AttentionGuide guide{cx.tape ? attention_links(batch) : std::vector<AttentionLink>()};
  const auto [encoded, x] = hidden_states(cx, batch, guide.links.empty() ? nullptr : &guide);
  TokenLoss loss = linear_cross_entropy(cx, x, embeddings_.output_weights(),
                                        {.ids = int_tensor(batch.target.ids, {x.rows()}),
                                         .smoothing = label_smoothing,
                                         .weights = batch.row_weights(batch.target.spans),
                                         .copying = copy_ ? (*copy_)(cx, x, encoded, batch) : Copying{}});
  loss.of_links = guide.loss;
  return loss;
}

Tensor Transformer::logits(Context& cx, const Batch& batch) {
  const auto [encoded, x] = hidden_states(cx, batch);
  const Var logits = wide_linear(cx, x, embeddings_.output, embeddings_.output_bias);
  return copy_ ? mix_copies(cx, *copy_, batch, x, encoded, logits) : logits;
}

}  // namespace dragoman
