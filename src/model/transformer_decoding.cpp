#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "backend/backend.h"
#include "backend/recorder.h"
#include "base/log.h"
#include "model/decoded_past.h"
#include "model/output_layer.h"
#include "model/recorded_steps.h"
#include "model/transformer.h"

namespace dragoman {

/// Keys and values of the encoder's output lie once a sentence in `memory_`; what layers keep of decoded tokens, in
/// `past_cache_`.
class TransformerDecoding : public Decoding {
 public:
  TransformerDecoding(Transformer& model, Context& cx)
      : model_(model),
        cx_(cx),
        memory_(new_cache(model.decoder_[0].cross_attention.cache_columns())),
        past_cache_(new_cache(model.decoder_[0].autoregression.cache_columns())),
        past_(past_cache_),
        output_(cx, model.embeddings_.output) {
    if (model.copy_) copies_.emplace(cx, *model.copy_, model.embeddings_.target.dtype());
    if (cx.backend.recorder && model.steps_on_the_device()) record_steps();
  }

  void add(int first, const PackedIds& source, int width) override;
  void restrict(std::span<const int32_t> pieces) override {
    invariant(!copies_ || pieces.empty(), "a model that copies needs all pieces");
    output_.restrict(pieces);
  }
  Tensor step(std::span<const StepRow> rows) override;
  void remove(int sentence) override;

 private:
  struct Sentence {
    int64_t memory, length;  // rows of its encoder output
  };

  CacheRows new_cache(int64_t columns) {
    return {cx_, model_.config_.decoder_layers, columns, model_.embeddings_.target.dtype()};
  }
  StepTables tables_of(std::span<const StepRow> rows);
  void record_steps();
  Var decoder(Context& cx, const StepTables& tables, Transformer::Rows rows);
  std::vector<Tensor> memory_of_steps(const Transformer::Rows& rows) const;

  Transformer& model_;
  Context& cx_;
  CacheRows memory_, past_cache_;
  DecodedPast past_;
  OutputLayer output_;
  std::optional<CopySources> copies_;
  std::optional<RecordedSteps> recorded_;  // none: steps run as they are called
  std::map<int, Sentence> sentences_;
};

// Where memory for it is left.
void TransformerDecoding::record_steps() {
  const auto scrap = int32_t(past_cache_.take(1));
  try {
    recorded_.emplace(cx_, scrap);
  } catch (const OutOfMemory&) {
    recorded_.reset();
  }
}

void TransformerDecoding::add(int first, const PackedIds& source, int width) {
  Transformer::Rows source_rows = model_.rows_of(source, {});
  const Var memory = model_.encode(cx_, source_rows);
  std::vector<int32_t> rows;
  for (int s = 0; s < source.spans.sentences(); ++s) {
    const Range span = source.spans[s];
    const Sentence sentence{memory_.take(span.end - span.begin), span.end - span.begin};
    for (int64_t i = 0; i < sentence.length; ++i) rows.push_back(int32_t(sentence.memory + i));
    past_.add(first + s, width);
    sentences_.emplace(first + s, sentence);
  }
  if (copies_) copies_->add(first, source, memory);
  const Tensor into = int_tensor(rows, {int64_t(rows.size())});
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const KeysAndValues seen =
        model_.decoder_[l].cross_attention.keys_and_values(cx_, memory, source.spans, source_rows.positions);
    cache_rows(cx_, memory_.layer(l), into, seen.k, seen.v);
  }
}

void TransformerDecoding::remove(int handle) {
  const auto found = sentences_.find(handle);
  if (found == sentences_.end()) return;
  const Sentence& sentence = found->second;
  memory_.give_back(sentence.memory, sentence.length);
  past_.remove(handle);
  if (copies_) copies_->remove(handle);
  sentences_.erase(found);
}

StepTables TransformerDecoding::tables_of(std::span<const StepRow> rows) {
  const auto R = int64_t(rows.size());
  const DecodedPast::Step past = past_.step(rows);
  std::vector<int32_t> ids;
  for (const StepRow& row : rows) ids.push_back(row.parent < 0 ? model_.config_.first_token() : row.token);
  const Transformer::Rows target = model_.step_rows(std::move(ids), past.token);
  std::vector<int32_t> lengths, begins;
  int64_t longest = 0;
  for (const StepRow& row : rows) {
    const Sentence& sentence = sentences_.at(row.sentence);
    begins.push_back(int32_t(sentence.memory));
    lengths.push_back(int32_t(sentence.length));
    longest = std::max(longest, sentence.length);
  }
  return {.ids = target.ids,
          .positions = target.positions,
          .cached = past.cached,
          .past = past.keys,
          .source = {.length = int_tensor(std::move(lengths), {R}),
                     .begin = int_tensor(std::move(begins), {R}),
                     .position = int_tensor({past.token.begin(), past.token.end()}, {R})},
          .longest_past = past.longest,
          .longest_source = longest};
}

// Of rows that are located; the tables may be of more.
Var TransformerDecoding::decoder(Context& cx, const StepTables& t, Transformer::Rows rows) {
  rows.ids = t.ids, rows.positions = t.positions;
  Var x = model_.embed(cx, model_.embeddings_.target, rows);
  const StepRows self{t.positions, rows.rotary, rows.bias, t.cached, {t.past, t.longest_past}};
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const auto& p = model_.decoder_[l];
    x = model_.sublayer(cx, p.autoregression_norm, x, t.positions,
                        [&](const Var& y) { return p.autoregression.step(cx, y, past_cache_.layer(l), self); });
    x = model_.sublayer(cx, p.cross_attention_norm, x, t.positions, [&](const Var& y) {
      return p.cross_attention.step(cx, y, memory_.layer(l), t.source, t.longest_source);
    });
    x = model_.sublayer(cx, p.feed_forward_norm, x, t.positions,
                        [&](const Var& y) { return p.feed_forward(cx, y, t.positions); });
  }
  return model_.decoder_norm_ ? (*model_.decoder_norm_)(cx, x) : x;
}

std::vector<Tensor> TransformerDecoding::memory_of_steps(const Transformer::Rows& rows) const {
  std::vector<Tensor> memory = {rows.position_table, rows.rotary, rows.bias, output_.weight()};
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    memory.push_back(memory_.layer(l));
    memory.push_back(past_cache_.layer(l));
  }
  return memory;
}

Tensor TransformerDecoding::step(std::span<const StepRow> rows) {
  const StepTables tables = tables_of(rows);
  Transformer::Rows target{tables.ids, tables.positions, Spans()};
  model_.locate(cx_, model_.target_positions_, target);
  const auto logits = [&](Context& cx, const StepTables& t) {
    const Var x = decoder(cx, t, target);
    return copies_ ? copies_->mix(rows, x, output_(cx, x)) : output_(cx, x);
  };
  if (recorded_) {
    try {
      return recorded_->run(tables, memory_of_steps(target), logits);
    } catch (const OutOfMemory&) {
      recorded_.reset();  // others have all of it, among them the context's arena, which may have room
    } catch (const RecordingFailed& error) {
      static std::once_flag told;
      std::call_once(told, [&] { log_warning("{}; steps run kernel by kernel, which takes longer", error.what()); });
      recorded_.reset();
    }
  }
  return logits(cx_, tables);
}

std::unique_ptr<Decoding> Transformer::decode(Context& cx) { return std::make_unique<TransformerDecoding>(*this, cx); }

}  // namespace dragoman
