#include <algorithm>
#include <map>

#include "model/decoded_past.h"
#include "model/output_layer.h"
#include "model/transformer.h"

namespace dragoman {

/// Keys and values of the encoder's output lie once a sentence in `memory_`; what layers keep of decoded tokens, in
/// `past_cache_`.
class TransformerDecoding : public Decoding {
 public:
  TransformerDecoding(Transformer& model, Context& cx)
      : model_(model),
        cx_(cx),
        memory_(new_cache(model.key_value_columns())),
        past_cache_(new_cache(model.look_back_columns())),
        past_(past_cache_),
        output_(cx, model.embeddings_.output) {
    if (model.copy_) copies_.emplace(cx, *model.copy_, model.embeddings_.target.dtype());
  }

  int add(const PackedIds& source, int width) override;
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
  struct MemoryKeys {
    StepKeys keys;
    int64_t longest = 0;
  };

  CacheRows new_cache(int64_t columns) {
    return {cx_, model_.config_.decoder_layers, columns, model_.embeddings_.target.dtype()};
  }
  MemoryKeys memory_keys(std::span<const StepRow> rows, const std::vector<int64_t>& token) const;

  Transformer& model_;
  Context& cx_;
  CacheRows memory_, past_cache_;
  DecodedPast past_;
  OutputLayer output_;
  std::optional<CopySources> copies_;
  std::map<int, Sentence> sentences_;
  int next_handle_ = 0;
};

int TransformerDecoding::add(const PackedIds& source, int width) {
  Transformer::Rows source_rows = model_.rows_of(source, {});
  const Var memory = model_.encode(cx_, source_rows);
  const int first = next_handle_;
  std::vector<int32_t> rows;
  for (int s = 0; s < source.spans.sentences(); ++s) {
    const Range span = source.spans[s];
    const Sentence sentence{memory_.take(span.end - span.begin), span.end - span.begin};
    for (int64_t i = 0; i < sentence.length; ++i) rows.push_back(int32_t(sentence.memory + i));
    past_.add(next_handle_, width);
    sentences_.emplace(next_handle_++, sentence);
  }
  if (copies_) copies_->add(first, source, memory);
  const Tensor into = int_tensor(rows, {int64_t(rows.size())});
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const auto [k, v] = model_.decoder_[l].cross_attention.remember(cx_, memory, source_rows.places);
    cache_rows(cx_, memory_.layer(l), into, k, v);
  }
  return first;
}

void TransformerDecoding::remove(int handle) {
  const Sentence& sentence = sentences_.at(handle);
  memory_.give_back(sentence.memory, sentence.length);
  past_.remove(handle);
  if (copies_) copies_->remove(handle);
  sentences_.erase(handle);
}

TransformerDecoding::MemoryKeys TransformerDecoding::memory_keys(std::span<const StepRow> rows,
                                                                 const std::vector<int64_t>& token) const {
  const auto R = int64_t(rows.size());
  std::vector<int32_t> lengths, begins;
  MemoryKeys memory;
  for (const StepRow& row : rows) {
    const Sentence& sentence = sentences_.at(row.sentence);
    begins.push_back(int32_t(sentence.memory));
    lengths.push_back(int32_t(sentence.length));
    memory.longest = std::max(memory.longest, sentence.length);
  }
  memory.keys = {.length = int_tensor(std::move(lengths), {R}),
                 .begin = int_tensor(std::move(begins), {R}),
                 .place = int_tensor({token.begin(), token.end()}, {R})};
  return memory;
}

Tensor TransformerDecoding::step(std::span<const StepRow> rows) {
  const DecodedPast::Step past = past_.step(rows);
  const MemoryKeys memory = memory_keys(rows, past.token);
  Transformer::Rows target = model_.step_rows(rows, past.token);
  Var x = model_.embed(cx_, model_.embeddings_.target, model_.target_positions_, target);
  const StepRows self{target.places, target.rotary, target.bias, past.cached, past.keys, past.longest};
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const auto& p = model_.decoder_[l];
    x = model_.sublayer(cx_, p.look_back_norm, x, target.places,
                        [&](const Var& y) { return p.look_back.step(cx_, y, past_cache_.layer(l), self); });
    x = model_.sublayer(cx_, p.cross_attention_norm, x, target.places, [&](const Var& y) {
      return p.cross_attention.step(cx_, y, memory_.layer(l), memory.keys, memory.longest);
    });
    x = model_.sublayer(cx_, p.feed_forward_norm, x, target.places,
                        [&](const Var& y) { return p.feed_forward(cx_, y, target.places); });
  }
  if (model_.decoder_norm_) x = (*model_.decoder_norm_)(cx_, x);
  return copies_ ? copies_->mix(rows, x, output_(x)) : output_(x);
}

std::unique_ptr<Decoding> Transformer::decode(Context& cx) { return std::make_unique<TransformerDecoding>(*this, cx); }

}  // namespace dragoman
