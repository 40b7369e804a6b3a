#include "model/decoder_only.h"

#include "backend/backend.h"
#include "model/decoded_past.h"
#include "model/embeddings.h"
#include "model/output_layer.h"
#include "ops/linear.h"
#include "ops/rows.h"

namespace dragoman {

DecoderOnly::DecoderOnly(const ModelConfig& config, Parameters parameters)
    : TransformerParts(config, std::move(parameters)) {
  require(config.source_vocabulary == config.target_vocabulary,
          "a decoder-only model reads both sides with one vocabulary, but they have {} and {} pieces",
          config.source_vocabulary, config.target_vocabulary);
  using Use = Parameters::Use;
  const int V = config_.target_vocabulary;
  embedding_ =
      make_table(parameters_, "embedding", V, config_.dim, config_.embeddings.ties_output() ? Use::both : Use::lookup);
  output_ =
      config_.embeddings.ties_output() ? embedding_ : make_table(parameters_, "output", V, config_.dim, Use::product);
  if (config_.positions == Positions::learned) positions_ = make_positions("decoder.positions");
  for (int l = 0; l < config_.decoder_layers; ++l) layers_.push_back(make_layer(fmt::format("decoder.{}", l), l));
  if (config_.norm == NormPlacement::pre) norm_ = make_norm("decoder.norm");
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
  Rows rows = rows_of(text.input, batch.sentences);
  Var x = embed(cx, embedding_, positions_, rows);
  for (const Layer& p : layers_) x = layer(cx, p, x, rows.self(), true);
  return norm_ ? (*norm_)(cx, x) : x;
}

TokenLoss DecoderOnly::loss(Context& cx, const Batch& batch, double label_smoothing) {
  const Joined text = joined(batch);
  const Var x = hidden(cx, text, batch);
  const auto M = int64_t(text.target_rows.size());
  const Tensor target = int_tensor(text.target_rows, {M});
  if (!config_.learns_source)
    return linear_cross_entropy(cx, gather_rows(cx, x, target), output_, int_tensor(batch.target.ids, {M}),
                                label_smoothing, batch.row_weights(batch.target.spans));
  const TokenLoss all = linear_cross_entropy(cx, x, output_, int_tensor(text.targets, {x.rows()}), label_smoothing,
                                             batch.row_weights(text.input.spans));
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
  return linear(cx, gather_rows(cx, hidden(cx, text, batch), target), output_, Var());
}

/// The source is read in one pass, all but its </s>: that is the first token of the decoding.
class DecoderOnlyDecoding : public Decoding {
 public:
  DecoderOnlyDecoding(DecoderOnly& model, Context& cx)
      : model_(model),
        cx_(cx),
        cache_(cx, model.config_.decoder_layers, model.layers_[0].self_attention.cache_columns(),
               model.embedding_.dtype()),
        past_(cache_),
        output_(cx, model.output_) {}

  void add(int first, const PackedIds& source, int width) override;
  void restrict(std::span<const int32_t> pieces) override { output_.restrict(pieces); }
  Tensor step(std::span<const StepRow> rows) override;
  void remove(int sentence) override;

 private:
  struct Prefix {
    int64_t first, length;  // cache rows
    int32_t separator;      // the source's last id, which the first step feeds
  };

  DecoderOnly& model_;
  Context& cx_;
  CacheRows cache_;
  DecodedPast past_;
  OutputLayer output_;
  std::map<int, Prefix> prefixes_;
};

void DecoderOnlyDecoding::add(int first, const PackedIds& source, int width) {
  const DecoderOnly::Joined text =
      model_.joined({source, {{}, Spans::of_lengths(std::vector<int32_t>(source.spans.sentences(), 0))}, {}});
  std::vector<int32_t> into;
  for (int s = 0; s < text.input.spans.sentences(); ++s) {
    const Range span = text.input.spans[s];
    const Prefix prefix{cache_.take(span.end - span.begin), span.end - span.begin, text.targets[span.end - 1]};
    std::vector<int32_t> rows(prefix.length);
    for (int64_t i = 0; i < prefix.length; ++i) rows[i] = int32_t(prefix.first + i);
    into.insert(into.end(), rows.begin(), rows.end());
    prefixes_.emplace(first + s, prefix);
    past_.add(first + s, width, std::move(rows));
  }
  const Tensor cached = int_tensor(std::move(into), {int64_t(text.input.ids.size())});
  DecoderOnly::Rows rows = model_.rows_of(text.input, {});
  Var x = model_.embed(cx_, model_.embedding_, model_.positions_, rows);
  SelfRows self = rows.self();
  self.cached = cached;
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    self.cache = cache_.layer(l);
    x = model_.layer(cx_, model_.layers_[l], x, self, true);
  }
}

void DecoderOnlyDecoding::remove(int handle) {
  const auto found = prefixes_.find(handle);
  if (found == prefixes_.end()) return;
  const Prefix prefix = found->second;
  past_.remove(handle);
  cache_.give_back(prefix.first, prefix.length);
  prefixes_.erase(found);
}

Tensor DecoderOnlyDecoding::step(std::span<const StepRow> rows) {
  const DecodedPast::Step past = past_.step(rows);
  std::vector<int32_t> ids;
  for (const StepRow& row : rows) ids.push_back(row.parent < 0 ? prefixes_.at(row.sentence).separator : row.token);
  DecoderOnly::Rows at = model_.step_rows(std::move(ids), past.token);
  Var x = model_.embed(cx_, model_.embedding_, model_.positions_, at);
  const StepRows self{at.positions, at.rotary, at.bias, past.cached, {past.keys, past.longest}};
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const auto& p = model_.layers_[l];
    x = model_.sublayer(cx_, p.self_attention_norm, x, at.positions,
                        [&](const Var& y) { return p.self_attention.step(cx_, y, cache_.layer(l), self); });
    x = model_.sublayer(cx_, p.feed_forward_norm, x, at.positions,
                        [&](const Var& y) { return p.feed_forward(cx_, y, at.positions); });
  }
  if (model_.norm_) x = (*model_.norm_)(cx_, x);
  return output_(cx_, x);
}

std::unique_ptr<Decoding> DecoderOnly::decode(Context& cx) { return std::make_unique<DecoderOnlyDecoding>(*this, cx); }

}  // namespace dragoman
