#include "model/transformer.h"

#include <algorithm>

#include "ops/linear.h"

namespace dragoman {

Transformer::Transformer(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype, bool gradients)
    : TransformerParts(config, backend, arena, dtype, gradients) {
  require(!config.ties_source() || config.source_vocabulary == config.target_vocabulary,
          "tied source and target embeddings need vocabularies of one size, but they have {} and {} pieces",
          config.source_vocabulary, config.target_vocabulary);
  make_embeddings();
  make_layers();
}

void Transformer::make_embeddings() {
  using Use = Parameters::Use;
  const int V = config_.target_vocabulary;
  if (config_.ties_source() && config_.ties_output()) {
    source_embedding_ = target_embedding_ = output_ = make_table("embedding", V, Use::both);
  } else {
    source_embedding_ = make_table("source_embedding", config_.source_vocabulary, Use::lookup);
    target_embedding_ = config_.ties_source()
                            ? source_embedding_
                            : make_table("target_embedding", V, config_.ties_output() ? Use::both : Use::lookup);
    output_ = config_.ties_output() ? target_embedding_ : make_table("output", V, Use::product);
  }
  if (config_.positions != Positions::learned) return;
  source_positions_ = make_positions("encoder.positions");
  target_positions_ = make_positions("decoder.positions");
}

void Transformer::make_layers() {
  for (int l = 0; l < config_.encoder_layers; ++l) encoder_.push_back(make_layer(fmt::format("encoder.{}", l), l));
  for (int l = 0; l < config_.decoder_layers; ++l) decoder_.push_back(make_decoder_layer(l));
  if (config_.norm == NormPlace::post) return;
  encoder_norm_ = make_norm("encoder.norm");
  decoder_norm_ = make_norm("decoder.norm");
}

LookBack Transformer::make_look_back(const std::string& name, int layer) {
  switch (config_.autoregression) {
    case Autoregression::self_attention:
      return {make_self_attention(name, layer)};
    case Autoregression::average_attention:
      return {AverageAttention::make(parameters_, name, config_.dim,
                                     {.feed_forward = config_.average_feed_forward,
                                      .activation = config_.average_activation,
                                      .gated = config_.average_gates,
                                      .dropout = config_.dropout_activation,
                                      .gain = gain(layer)})};
    case Autoregression::rnn:
      return {Ssru::make(parameters_, name, config_.dim, gain(layer))};
  }
  fail("a decoder cannot look back by {}", name_of(config_.autoregression));
}

int64_t Transformer::look_back_columns() const {
  return config_.autoregression == Autoregression::self_attention ? key_value_columns() : config_.dim;
}

Transformer::DecoderLayer Transformer::make_decoder_layer(int layer) {
  const std::string at = fmt::format("decoder.{}.", layer);
  std::string look_back(name_of(config_.autoregression));  // also the name of its parameters
  std::ranges::replace(look_back, '-', '_');
  AttentionDesign cross = attention_design(layer);
  cross.relative = 0;
  cross.window = config_.attention_local > 0 ? config_.attention_local : -1;
  return {make_look_back(at + look_back, layer),
          make_norm(at + look_back + "_norm"),
          CrossAttention::make(parameters_, at + "cross_attention", config_.dim, cross),
          make_norm(at + "cross_attention_norm"),
          make_feed_forward(at + "feed_forward", layer),
          make_norm(at + "feed_forward_norm")};
}

Transformer::Rows Transformer::target_rows(const Batch& batch) const {
  PackedIds shifted = batch.target;
  for (int s = 0; s < shifted.spans.sentences(); ++s) {
    const auto first = shifted.ids.begin() + shifted.spans[s].begin, last = shifted.ids.begin() + shifted.spans[s].end;
    if (first == last) continue;
    std::move_backward(first, last - 1, last);
    *first = bos_id;
  }
  return rows_of(shifted, batch.sentences);
}

Var Transformer::decoder_layer(Context& cx, const DecoderLayer& p, Var x, const Var& memory, const Rows& target,
                               const Rows& source) {
  x = sublayer(cx, p.look_back_norm, x, target.places, [&](const Var& y) { return p.look_back(cx, y, target.self()); });
  x = sublayer(cx, p.cross_attention_norm, x, target.places, [&](const Var& y) {
    return p.cross_attention(cx, y, p.cross_attention.remember(cx, memory, source.places), target.spans, source.spans,
                             target.places);
  });
  return sublayer(cx, p.feed_forward_norm, x, target.places,
                  [&](const Var& y) { return p.feed_forward(cx, y, target.places); });
}

Var Transformer::encode(Context& cx, Rows& source) {
  Var x = embed(cx, source_embedding_, source_positions_, source);
  for (const Layer& p : encoder_) x = layer(cx, p, x, source.self(), false);
  return encoder_norm_ ? (*encoder_norm_)(cx, x) : x;
}

Var Transformer::hidden(Context& cx, const Batch& batch) {
  Rows source = rows_of(batch.source, batch.sentences), target = target_rows(batch);
  const Var memory = encode(cx, source);
  Var x = embed(cx, target_embedding_, target_positions_, target);
  for (const DecoderLayer& layer : decoder_) x = decoder_layer(cx, layer, x, memory, target, source);
  return decoder_norm_ ? (*decoder_norm_)(cx, x) : x;
}

LabelLoss Transformer::loss(Context& cx, const Batch& batch, double label_smoothing) {
  const Var x = hidden(cx, batch);
  return linear_cross_entropy(cx, x, output_, int_tensor(batch.target.ids, {x.rows()}), label_smoothing,
                              batch.row_weights(batch.target.spans));
}

Tensor Transformer::logits(Context& cx, const Batch& batch) { return linear(cx, hidden(cx, batch), output_, Var()); }

}  // namespace dragoman
