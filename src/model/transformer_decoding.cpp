#include <map>

#include "model/transformer.h"
#include "ops/linear.h"
#include "ops/norm.h"

namespace dragoman {
namespace {

constexpr int page_steps = 16;  // steps of one sentence whose cache rows are taken at once

}  // namespace

/// Keys and values of the encoder's output lie once a sentence in `memory_`; those of decoded tokens in pages of
/// 16 steps × `width` rows in `past_`. A row remembers where its past lies, token by token: a hypothesis that changes
/// places copies that list of integers and nothing else.
class TransformerDecoding : public Decoding {
 public:
  TransformerDecoding(Transformer& model, Context& cx)
      : model_(model),
        cx_(cx),
        memory_(cx, model.config_.decoder_layers, key_value_columns(), model.source_embedding_.dtype()),
        past_(cx, model.config_.decoder_layers, key_value_columns(), model.source_embedding_.dtype()) {}

  int add(const PackedIds& source, int width) override;
  Tensor step(std::span<const StepRow> rows) override;
  void remove(int sentence) override;

 private:
  struct Sentence {
    int64_t memory, length;      // rows of its encoder output
    int width;                   // of a page
    std::vector<int64_t> pages;  // first rows
  };
  struct Step {
    Transformer::Rows rows;
    Tensor new_rows;  // (R): where this step's keys and values go
    StepKeys past, memory;
    int64_t longest_past = 0, longest_memory = 0;
  };

  int64_t key_value_columns() const {
    return int64_t{model_.config_.heads} * (model_.config_.head_keys() + model_.config_.head_values());
  }
  int64_t row_of(Sentence& sentence, int64_t step, int place);
  Step plan(std::span<const StepRow> rows);

  Transformer& model_;
  Context& cx_;
  CacheRows memory_, past_;
  std::map<int, Sentence> sentences_;
  int next_handle_ = 0;
  std::vector<std::vector<int32_t>> history_;  // of each row of the last step: cache row of each of its tokens
};

int TransformerDecoding::add(const PackedIds& source, int width) {
  Transformer::Rows source_rows = model_.source_rows(source, {});
  const Var memory = model_.encode(cx_, source_rows);
  const int first = next_handle_;
  std::vector<int32_t> rows;
  for (int s = 0; s < source.spans.sentences(); ++s) {
    const Range span = source.spans[s];
    const Sentence sentence{memory_.take(span.end - span.begin), span.end - span.begin, width, {}};
    for (int64_t i = 0; i < sentence.length; ++i) rows.push_back(int32_t(sentence.memory + i));
    sentences_.emplace(next_handle_++, sentence);
  }
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
  for (int64_t page : sentence.pages) past_.give_back(page, int64_t{page_steps} * sentence.width);
  sentences_.erase(handle);
}

int64_t TransformerDecoding::row_of(Sentence& sentence, int64_t step, int place) {
  invariant(place < sentence.width, "a sentence has no more rows than it announced");
  if (step / page_steps >= int64_t(sentence.pages.size()))
    sentence.pages.push_back(past_.take(int64_t{page_steps} * sentence.width));
  return sentence.pages[step / page_steps] + step % page_steps * sentence.width + place;
}

TransformerDecoding::Step TransformerDecoding::plan(std::span<const StepRow> rows) {
  const auto R = int64_t(rows.size());
  std::vector<std::vector<int32_t>> history(R);
  std::vector<int32_t> ids, places, new_rows, lengths, begins, memory_lengths, steps;
  Step step;
  int place = 0;  // of a row among those of its sentence
  for (int64_t r = 0; r < R; ++r) {
    Sentence& sentence = sentences_.at(rows[r].sentence);
    place = r > 0 && rows[r].sentence == rows[r - 1].sentence ? place + 1 : 0;
    if (rows[r].parent >= 0) history[r] = history_[rows[r].parent];
    const auto t = int64_t(history[r].size());
    new_rows.push_back(int32_t(row_of(sentence, t, place)));
    history[r].push_back(new_rows.back());
    ids.push_back(rows[r].token);
    places.insert(places.end(), {0, int32_t(model_.config_.positions == Positions::learned
                                                ? std::min<int64_t>(t, model_.config_.max_positions - 1)
                                                : t)});
    lengths.push_back(int32_t(t + 1));
    steps.push_back(int32_t(t));
    begins.push_back(int32_t(sentence.memory));
    memory_lengths.push_back(int32_t(sentence.length));
    step.longest_past = std::max(step.longest_past, t + 1);
    step.longest_memory = std::max(step.longest_memory, sentence.length);
  }
  std::vector<int32_t> table(R * step.longest_past);
  for (int64_t r = 0; r < R; ++r)
    std::copy(history[r].begin(), history[r].end(), table.begin() + r * step.longest_past);
  history_ = std::move(history);
  step.rows = {int_tensor(std::move(ids), {R}), int_tensor(std::move(places), {R, 2}), Spans()};
  step.new_rows = int_tensor(std::move(new_rows), {R});
  step.past = {.length = int_tensor(std::move(lengths), {R}),
               .table = int_tensor(std::move(table), {R, step.longest_past})};
  step.memory = {.length = int_tensor(std::move(memory_lengths), {R}),
                 .begin = int_tensor(std::move(begins), {R}),
                 .place = int_tensor(std::move(steps), {R})};
  return step;
}

Tensor TransformerDecoding::step(std::span<const StepRow> rows) {
  Step now = plan(rows);
  Var x = model_.embed(cx_, model_.target_embedding_, model_.target_positions_, now.rows);
  const Tensor& places = now.rows.places;
  const StepRows self{places, now.rows.rotary, now.rows.bias, now.new_rows, now.past, now.longest_past};
  for (int l = 0; l < model_.config_.decoder_layers; ++l) {
    const auto& p = model_.decoder_[l];
    x = model_.sublayer(cx_, p.self_attention_norm, x, places,
                        [&](const Var& y) { return p.self_attention.step(cx_, y, past_.layer(l), self); });
    x = model_.sublayer(cx_, p.cross_attention_norm, x, places, [&](const Var& y) {
      return p.cross_attention.step(cx_, y, memory_.layer(l), now.memory, now.longest_memory);
    });
    x = model_.sublayer(cx_, p.feed_forward_norm, x, places,
                        [&](const Var& y) { return p.feed_forward(cx_, y, places); });
  }
  if (model_.decoder_norm_) x = (*model_.decoder_norm_)(cx_, x);
  return linear(cx_, x, model_.output_, Var());
}

std::unique_ptr<Decoding> Transformer::decode(Context& cx) { return std::make_unique<TransformerDecoding>(*this, cx); }

}  // namespace dragoman
