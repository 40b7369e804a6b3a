#include <optional>

#include "backend/backend.h"
#include "backend/recorder.h"
#include "model/cached_decoding.h"
#include "model/recorded_steps.h"
#include "model/transformer.h"

namespace dragoman {

/// The source cache holds keys and values of the encoder's output; the past cache holds those of decoded tokens.
class TransformerDecoding : public CachedDecoding {
 public:
  TransformerDecoding(Transformer& model, Context& cx)
      : CachedDecoding(cx, new_cache(model, cx, model.decoder_[0].cross_attention),
                       new_cache(model, cx, model.decoder_[0].autoregression), model.embeddings_.output_weights(),
                       model.copy_ ? &*model.copy_ : nullptr),
        model_(model) {
    if (cx.backend.recorder && model.steps_on_the_device()) record_steps();
  }

 private:
  static CacheRows new_cache(const Transformer& model, Context& cx, const auto& of_layer) {
    const DType type = of_layer.cache_type(cx, model.embeddings_.target.dtype());
    return {cx, model.config_.decoder_layers, of_layer.cache_columns(), type};
  }
  Var encode(int first, const PackedIds& source, const Tensor& rows, const Tensor& prefix) override;
  Tensor compute(std::span<const StepRow> rows, const DecodedPast::Step& past) override;
  Shown shown() const override;
  Tensor step_ahead(std::span<const StepRow> rows, const std::function<void(const AheadTables&)>& choose) override;
  Tensor recorded(std::span<const StepRow> rows, const StepTables& tables, const Transformer::Rows& target,
                  const RecordedSteps::Prepare& prepare);
  StepTables tables_of(std::span<const StepRow> rows, const DecodedPast::Step& past) const;
  Transformer::Rows located(const StepTables& tables);
  void record_steps();
  Var decoder(Context& cx, const StepTables& tables, Transformer::Rows rows);
  std::vector<Tensor> memory_of_steps(const Transformer::Rows& rows) const;

  Transformer& model_;
  Var bias_;                               // of the last step's self-attention; a learned one is the same in all steps
  std::optional<RecordedSteps> recorded_;  // none: steps are not recorded
};

// If memory is short, steps are not recorded.
void TransformerDecoding::record_steps() {
  const auto scrap = int32_t(past_cache_.take(1));
  try {
    recorded_.emplace(cx_, scrap);
  } catch (const OutOfMemory&) {
    recorded_.reset();
  }
}

Var TransformerDecoding::encode(int, const PackedIds& source, const Tensor& rows, const Tensor&) {
  Transformer::Rows source_rows = model_.rows_of(source, {});
  const Var encoded = model_.encode(cx_, source_rows);
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const KeysAndValues seen =
        model_.decoder_[l].cross_attention.keys_and_values(cx_, encoded, source.spans, source_rows.positions);
    cache_rows(cx_, source_cache_.layer(l), rows, seen.k, seen.v);
  }
  return encoded;
}

CachedDecoding::Shown TransformerDecoding::shown() const {
  const int layer = model_.config_.alignment.layer_of(model_.config_.decoder_layers);
  return {&model_.decoder_[size_t(layer)].cross_attention, layer, model_.config_.dim,
          cx_.activation_type(model_.embeddings_.target.dtype())};
}

StepTables TransformerDecoding::tables_of(std::span<const StepRow> rows, const DecodedPast::Step& past) const {
  std::vector<int32_t> ids;
  for (const StepRow& row : rows) ids.push_back(row.parent < 0 ? model_.config_.first_token() : row.token);
  const Transformer::Rows target = model_.step_rows(std::move(ids), past.token);
  HeldRows::Step source = sources_.step(rows);
  source.keys.position = past.positions();
  return {.ids = target.ids,
          .positions = target.positions,
          .cached = past.cached,
          .past = past.keys,
          .source = source.keys,
          .longest_past = past.longest,
          .longest_source = source.longest};
}

Transformer::Rows TransformerDecoding::located(const StepTables& tables) {
  Transformer::Rows target{tables.ids, tables.positions, Spans()};
  target.bias = bias_;
  model_.locate(cx_, model_.target_positions_, true, target);
  bias_ = target.bias;
  return target;
}

// `rows` have positions; the tables may have more rows.
Var TransformerDecoding::decoder(Context& cx, const StepTables& t, Transformer::Rows rows) {
  rows.ids = t.ids, rows.positions = t.positions;
  Var x = model_.embed_target(cx, rows);
  const StepRows self{t.positions, rows.rotary, rows.bias, t.cached, {t.past, t.longest_past}};
  const int shown_layer = shown().layer;
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const auto& p = model_.decoder_[l];
    x = model_.sublayer(cx, p.autoregression_norm, x, t.positions,
                        [&](const Var& y) { return p.autoregression.step(cx, y, past_cache_.layer(l), self); });
    x = model_.sublayer(cx, p.cross_attention_norm, x, t.positions, [&](const Var& y) {
      if (l == shown_layer) keep_queries(cx, y, t.cached);
      return p.cross_attention.step(cx, y, source_cache_.layer(l), t.source, t.longest_source);
    });
    x = model_.sublayer(cx, p.feed_forward_norm, x, t.positions,
                        [&](const Var& y) { return p.feed_forward(cx, y, t.positions); });
  }
  return model_.decoder_norm_ ? (*model_.decoder_norm_)(cx, x) : x;
}

std::vector<Tensor> TransformerDecoding::memory_of_steps(const Transformer::Rows& rows) const {
  std::vector<Tensor> memory = {rows.position_table, rows.rotary, rows.bias, output_.weight()};
  if (output_.bias()) memory.push_back(output_.bias());
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    memory.push_back(source_cache_.layer(l));
    memory.push_back(past_cache_.layer(l));
  }
  if (query_layer() >= 0) memory.push_back(past_cache_.layer(query_layer()));
  return memory;
}

// Empty if steps are not recorded, or not any more.
Tensor TransformerDecoding::recorded(std::span<const StepRow> rows, const StepTables& tables,
                                     const Transformer::Rows& target, const RecordedSteps::Prepare& prepare) {
  if (!recorded_) return {};
  const auto run = [&](Context& cx, const StepTables& t) { return logits(cx, rows, decoder(cx, t, target)); };
  try {
    return recorded_->run(tables, memory_of_steps(target), run, prepare);
  } catch (const OutOfMemory&) {
    recorded_.reset();  // the memory is held by others, among them the context's arena, which may have room
  } catch (const RecordingFailed&) {
    recorded_.reset();
  }
  return {};
}

Tensor TransformerDecoding::compute(std::span<const StepRow> rows, const DecodedPast::Step& past) {
  const StepTables tables = tables_of(rows, past);
  const Transformer::Rows target = located(tables);
  if (Tensor found = recorded(rows, tables, target, {})) return found;
  return logits(cx_, rows, decoder(cx_, tables, target));
}

// Only recorded steps have their tables on the device.
Tensor TransformerDecoding::step_ahead(std::span<const StepRow> rows,
                                       const std::function<void(const AheadTables&)>& choose) {
  if (!recorded_) return {};
  const DecodedPast::Step past = past_.ahead(rows);
  const StepTables tables = tables_of(rows, past);
  return recorded(rows, tables, located(tables), [&](const StepTables& t) {
    choose({.ids = t.ids, .table = t.past.table, .past = past.keys.table, .length = past.keys.length});
  });
}

std::unique_ptr<Decoding> Transformer::decode(Context& cx) { return std::make_unique<TransformerDecoding>(*this, cx); }

}  // namespace dragoman
