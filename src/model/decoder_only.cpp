#include "model/decoder_only.h"

#include <algorithm>

#include "backend/backend.h"
#include "model/cached_decoding.h"
#include "model/embeddings.h"
#include "ops/linear.h"
#include "ops/rows.h"

namespace dragoman {

DecoderOnly::DecoderOnly(const ModelConfig& config, Parameters parameters)
    : TransformerParts(config, std::move(parameters)) {
  using Use = Parameters::Use;
  const int V = config_.target_vocabulary;
  embedding_ =
      make_table(parameters_, "embedding", V, config_.dim, config_.embeddings.ties_output() ? Use::both : Use::lookup);
  output_ = {
      config_.embeddings.ties_output() ? embedding_ : make_table(parameters_, "output", V, config_.dim, Use::product),
      make_output_bias(parameters_, config_)};
  positions_ = make_positions(config_, "decoder");
  for (int l = 0; l < config_.decoder_layers; ++l)
    layers_.push_back(make_layer(config_, fmt::format("decoder.{}", l), l));
  if (config_.has_final_norm()) norm_ = make_norm("decoder.norm");
}

DecoderOnly::Joined DecoderOnly::joined(const Batch& batch) const {
  Joined text;
  std::vector<int32_t> lengths;
  for (int s = 0; s < batch.source.spans.sentences(); ++s) {
    const auto part = [s](const PackedIds& side) {
      const Range r = side.spans[s];
      return std::span(side.ids).subspan(size_t(r.begin), size_t(r.end - r.begin));
    };
    const auto source = part(batch.source), target = part(batch.target);
    const size_t begin = text.targets.size();
    text.targets.insert(text.targets.end(), source.begin(), source.end());
    for (const int32_t id : target) {
      text.target_rows.push_back(int32_t(text.targets.size()));
      text.targets.push_back(id);
    }
    lengths.push_back(int32_t(text.targets.size() - begin));
    if (text.targets.size() == begin) continue;
    text.input.ids.push_back(config_.first_token());
    text.input.ids.insert(text.input.ids.end(), text.targets.begin() + int64_t(begin), text.targets.end() - 1);
  }
  text.input.spans = Spans::of_lengths(lengths);
  return text;
}

Var DecoderOnly::hidden(Context& cx, const Joined& text, const Batch& batch) {
  Rows rows = rows_of(text.input, batch);
  locate(cx, positions_, true, rows);
  Var x = embed(cx, embedding_, nullptr, 0, rows);
  for (const Layer& p : layers_) x = layer(cx, p, x, rows.self(), true, rows.weights);
  return norm_ ? (*norm_)(cx, x) : x;
}

TokenLoss DecoderOnly::loss(Context& cx, const Batch& batch, double label_smoothing) {
  const Joined text = joined(batch);
  const Var x = hidden(cx, text, batch);
  const auto M = int64_t(text.target_rows.size());
  const Tensor target = int_tensor(text.target_rows, {M});
  if (!config_.learns_source)
    return linear_cross_entropy(cx, gather_rows(cx, x, target), output_,
                                {.ids = int_tensor(batch.target.ids, {M}),
                                 .smoothing = label_smoothing,
                                 .weights = batch.row_weights(batch.target.spans)});
  const TokenLoss all = linear_cross_entropy(cx, x, output_,
                                             {.ids = int_tensor(text.targets, {x.rows()}),
                                              .smoothing = label_smoothing,
                                              .weights = batch.row_weights(text.input.spans)});
  const auto of_target = [&](const Tensor& values) {
    const Tensor chosen = cx.save({M, 1}, values.dtype());
    cx.backend.gather_rows(chosen, values.reshaped({x.rows(), 1}), target);
    return chosen.reshaped({M});
  };
  return {of_target(all.loss), of_target(all.log_prob)};
}

Tensor DecoderOnly::logits(Context& cx, const Batch& batch) {
  const Joined text = joined(batch);
  const Tensor target = int_tensor(text.target_rows, {int64_t(text.target_rows.size())});
  return wide_linear(cx, gather_rows(cx, hidden(cx, text, batch), target), output_.weight, output_.bias);
}

/// One pass reads the source without its </s>; the first step reads the </s>. The source is part of the past: there is
/// no source cache.
class DecoderOnlyDecoding : public CachedDecoding {
 public:
  DecoderOnlyDecoding(DecoderOnly& model, Context& cx)
      : CachedDecoding(cx, CacheRows(cx, 0, 0, model.embedding_.dtype()), new_cache(model, cx), model.output_, nullptr),
        model_(model) {}

  void remove(int sentence) override {
    CachedDecoding::remove(sentence);
    separators_.erase(sentence);
  }

 private:
  // A memory's layers may take no 16 bits, and all layers have caches of one type.
  static CacheRows new_cache(const DecoderOnly& model, Context& cx) {
    const DType dtype = model.embedding_.dtype();
    const auto wide = [&](const auto& layer) { return layer.self_attention.cache_type(cx, dtype) == dtype; };
    return {cx, model.config_.decoder_layers, model.layers_[0].self_attention.cache_columns(),
            std::ranges::any_of(model.layers_, wide) ? dtype : cx.activation_type(dtype)};
  }
  Spans prefix_of(const Spans& source) const override { return source; }
  Var encode(int first, const PackedIds& source, const Tensor& rows, const Tensor& prefix) override;
  Tensor compute(std::span<const StepRow> rows, const DecodedPast::Step& past) override;

  DecoderOnly& model_;
  Var bias_;                           // of the last step's self-attention; a learned one is the same in all steps
  std::map<int, int32_t> separators_;  // the last id of each source
};

Var DecoderOnlyDecoding::encode(int first, const PackedIds& source, const Tensor&, const Tensor& prefix) {
  const DecoderOnly::Joined text =
      model_.joined({source, {{}, Spans::of_lengths(std::vector<int32_t>(source.spans.sentences(), 0))}, {}});
  for (int s = 0; s < text.input.spans.sentences(); ++s)
    separators_.emplace(first + s, text.targets[size_t(text.input.spans[s].end - 1)]);
  DecoderOnly::Rows rows = model_.rows_of(text.input, {});
  model_.locate(cx_, model_.positions_, true, rows);
  Var x = model_.embed(cx_, model_.embedding_, nullptr, 0, rows);
  SelfRows self = rows.self();
  self.cached = prefix;
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    self.cache = past_cache_.layer(l);
    x = model_.layer(cx_, model_.layers_[l], x, self, true);
  }
  return x;
}

Tensor DecoderOnlyDecoding::compute(std::span<const StepRow> rows, const DecodedPast::Step& past) {
  std::vector<int32_t> ids;
  for (const StepRow& row : rows) ids.push_back(row.parent < 0 ? separators_.at(row.sentence) : row.token);
  DecoderOnly::Rows at = model_.step_rows(std::move(ids), past.token);
  at.bias = bias_;
  model_.locate(cx_, model_.positions_, true, at);
  bias_ = at.bias;
  Var x = model_.embed(cx_, model_.embedding_, nullptr, 0, at);
  const StepRows self{at.positions, at.rotary, at.bias, past.cached, {past.keys, past.longest}};
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const auto& p = model_.layers_[l];
    x = model_.sublayer(cx_, p.self_attention_norm, x, at.positions,
                        [&](const Var& y) { return p.self_attention.step(cx_, y, past_cache_.layer(l), self); });
    x = model_.sublayer(cx_, p.feed_forward_norm, x, at.positions,
                        [&](const Var& y) { return p.feed_forward(cx_, y, at.positions); });
  }
  if (model_.norm_) x = (*model_.norm_)(cx_, x);
  return logits(cx_, rows, x);
}

std::unique_ptr<Decoding> DecoderOnly::decode(Context& cx) { return std::make_unique<DecoderOnlyDecoding>(*this, cx); }

}  // namespace dragoman
