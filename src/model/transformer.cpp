#include "model/transformer.h"

#include <algorithm>
#include <cmath>

#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/norm.h"

namespace dragoman {

Transformer::Transformer(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype, bool gradients)
    : config_(config),
      parameters_(backend, arena, dtype, gradients),
      sinusoids_(config.dim,
                 config.positions == Positions::interleaved ? SinusoidOrder::interleaved : SinusoidOrder::halves,
                 dtype),
      rotary_(config.head_keys(), SinusoidOrder::halves, dtype),
      bias_(config.heads, score_scale(attention_design(0).kernel_score(), config.head_keys()), dtype) {
  require(config.source_vocabulary > 0 && config.target_vocabulary > 0, "a model needs the sizes of its vocabularies");
  require(!config.ties_source() || config.source_vocabulary == config.target_vocabulary,
          "tied source and target embeddings need vocabularies of one size, but they have {} and {} pieces",
          config.source_vocabulary, config.target_vocabulary);
  make_embeddings();
  make_layers();
}

void Transformer::make_embeddings() {
  const int64_t D = config_.dim;
  using Use = Parameters::Use;
  const auto table = [&](const std::string& name, int64_t V, Use use) {
    return parameters_.matrix({{name + ".weight", V, {Init::normal, 1 / std::sqrt(double(D))}}}, D, use);
  };
  const int V = config_.target_vocabulary;
  if (config_.ties_source() && config_.ties_output()) {
    source_embedding_ = target_embedding_ = output_ = table("embedding", V, Use::both);
  } else {
    source_embedding_ = table("source_embedding", config_.source_vocabulary, Use::lookup);
    target_embedding_ = config_.ties_source()
                            ? source_embedding_
                            : table("target_embedding", V, config_.ties_output() ? Use::both : Use::lookup);
    output_ = config_.ties_output() ? target_embedding_ : table("output", V, Use::product);
  }
  if (config_.positions != Positions::learned) return;
  const auto positions = [&](const std::string& name) {
    return parameters_.matrix({{name, config_.max_positions, {Init::normal, 0.02}}}, D, Use::lookup);
  };
  source_positions_ = positions("encoder.positions.weight");
  target_positions_ = positions("decoder.positions.weight");
}

FeedForward Transformer::make_feed_forward(const std::string& name, double gain) {
  const int64_t D = config_.dim, F = config_.feed_forward;
  return {Linear::make(parameters_, {name + ".up"}, {F}, D, gain),
          Linear::make(parameters_, {name + ".down"}, {D}, F, gain), config_.activation, config_.dropout_activation};
}

double Transformer::gain(int layer) const {
  return config_.initialisation == Initialisation::depth_scaled ? 1 / std::sqrt(layer + 1.0) : 1.0;
}

// Of self-attention.
AttentionDesign Transformer::attention_design(int layer) const {
  return {.sizes = {config_.heads, config_.head_keys(), config_.head_values()},
          .score = config_.attention_score,
          .projections = config_.attention_projections,
          .window = config_.attention_window > 0 ? config_.attention_window : -1,
          .relative = config_.positions == Positions::relative ? config_.relative_positions : 0,
          .locations = config_.max_positions,
          .dropout = config_.dropout_attention,
          .gain = gain(layer)};
}

void Transformer::make_layers() {
  const auto self_attention = [&](const std::string& name, int l) {
    return SelfAttention::make(parameters_, name, config_.dim, attention_design(l));
  };
  const auto cross_attention = [&](const std::string& name, int l) {
    AttentionDesign design = attention_design(l);
    design.relative = 0;
    design.window = config_.attention_local > 0 ? config_.attention_local : -1;
    return CrossAttention::make(parameters_, name, config_.dim, design);
  };
  const auto norm = [&](const std::string& name) { return Norm::make(parameters_, name, config_.dim); };
  for (int l = 0; l < config_.encoder_layers; ++l) {
    const std::string at = fmt::format("encoder.{}.", l);
    encoder_.push_back({self_attention(at + "self_attention", l), norm(at + "self_attention_norm"),
                        make_feed_forward(at + "feed_forward", gain(l)), norm(at + "feed_forward_norm")});
  }
  for (int l = 0; l < config_.decoder_layers; ++l) {
    const std::string at = fmt::format("decoder.{}.", l);
    decoder_.push_back({self_attention(at + "self_attention", l), norm(at + "self_attention_norm"),
                        cross_attention(at + "cross_attention", l), norm(at + "cross_attention_norm"),
                        make_feed_forward(at + "feed_forward", gain(l)), norm(at + "feed_forward_norm")});
  }
  if (config_.norm == NormPlace::post) return;
  encoder_norm_ = norm("encoder.norm");
  decoder_norm_ = norm("decoder.norm");
}

Transformer::Rows Transformer::source_rows(const PackedIds& source, std::span<const int32_t> sentences) const {
  const auto n = int64_t(source.ids.size());
  std::vector<int32_t> places;
  places.reserve(2 * n);
  for (int s = 0; s < source.spans.sentences(); ++s) {
    const Range rows = source.spans[s];
    for (int64_t t = 0; t < rows.end - rows.begin; ++t) {
      places.push_back(sentences.empty() ? 0 : sentences[s]);
      places.push_back(
          int32_t(config_.positions == Positions::learned ? std::min<int64_t>(t, config_.max_positions - 1) : t));
    }
  }
  return {int_tensor(source.ids, {n}), int_tensor(std::move(places), {n, 2}), source.spans};
}

Transformer::Rows Transformer::target_rows(const Batch& batch) const {
  PackedIds shifted = batch.target;
  for (int s = 0; s < shifted.spans.sentences(); ++s) {
    const auto first = shifted.ids.begin() + shifted.spans[s].begin, last = shifted.ids.begin() + shifted.spans[s].end;
    if (first == last) continue;
    std::move_backward(first, last - 1, last);
    *first = bos_id;
  }
  return source_rows(shifted, batch.sentences);
}

// Post-norm: norm(x + dropout(f(x))), section 3.1.  Pre-norm: x + dropout(f(norm(x))).
Var Transformer::sublayer(Context& cx, const Norm& norm, const Var& x, const Tensor& places, const Function& f) {
  if (config_.norm == NormPlace::pre) {
    const Var y = f(norm(cx, x));
    return residual(cx, x, y, cx.dropout(config_.dropout, places));
  }
  const Var y = f(x);
  return residual_norm(cx, x, y, norm.weight, norm.bias, cx.dropout(config_.dropout, places));
}

// Embeds, and finds what self-attention needs to know of the places.
Var Transformer::embed(Context& cx, const Var& table, const Var& learned, Rows& rows) {
  int32_t last = 0;
  const auto places = rows.places.view<int32_t>();
  for (int64_t n = 0; n < rows.ids.elements(); ++n) last = std::max(last, places(n, 1));
  Var positions = learned;
  if (sinusoids_added(config_.positions)) positions = Var(sinusoids_.table(cx.arena, cx.backend, last + 1));
  if (config_.positions == Positions::rotary) rows.rotary = rotary_.table(cx.arena, cx.backend, last + 1);
  if (config_.positions == Positions::alibi) rows.bias = bias_.table(cx.arena, cx.backend, last + 1);
  return embedding(cx, {rows.ids, rows.places, table, positions, std::sqrt(double(config_.dim))},
                   cx.dropout(config_.embedding_dropout(), rows.places));
}

Var Transformer::encoder_layer(Context& cx, const EncoderLayer& p, Var x, const Rows& source) {
  x = sublayer(cx, p.self_attention_norm, x, source.places,
               [&](const Var& y) { return p.self_attention(cx, y, source.self(), false); });
  return sublayer(cx, p.feed_forward_norm, x, source.places,
                  [&](const Var& y) { return p.feed_forward(cx, y, source.places); });
}

Var Transformer::decoder_layer(Context& cx, const DecoderLayer& p, Var x, const Var& memory, const Rows& target,
                               const Rows& source) {
  x = sublayer(cx, p.self_attention_norm, x, target.places,
               [&](const Var& y) { return p.self_attention(cx, y, target.self(), true); });
  x = sublayer(cx, p.cross_attention_norm, x, target.places, [&](const Var& y) {
    return p.cross_attention(cx, y, p.cross_attention.remember(cx, memory, source.places), target.spans, source.spans,
                             target.places);
  });
  return sublayer(cx, p.feed_forward_norm, x, target.places,
                  [&](const Var& y) { return p.feed_forward(cx, y, target.places); });
}

Var Transformer::encode(Context& cx, Rows& source) {
  Var x = embed(cx, source_embedding_, source_positions_, source);
  for (const EncoderLayer& layer : encoder_) x = encoder_layer(cx, layer, x, source);
  return encoder_norm_ ? (*encoder_norm_)(cx, x) : x;
}

Var Transformer::hidden(Context& cx, const Batch& batch) {
  Rows source = source_rows(batch.source, batch.sentences), target = target_rows(batch);
  const Var memory = encode(cx, source);
  Var x = embed(cx, target_embedding_, target_positions_, target);
  for (const DecoderLayer& layer : decoder_) x = decoder_layer(cx, layer, x, memory, target, source);
  return decoder_norm_ ? (*decoder_norm_)(cx, x) : x;
}

LabelLoss Transformer::loss(Context& cx, const Batch& batch, double label_smoothing) {
  const Var x = hidden(cx, batch);
  return linear_cross_entropy(cx, x, output_, int_tensor(batch.target.ids, {x.rows()}), label_smoothing);
}

Tensor Transformer::logits(Context& cx, const Batch& batch) { return linear(cx, hidden(cx, batch), output_, Var()); }

}  // namespace dragoman
