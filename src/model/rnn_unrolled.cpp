#include <utility>

#include "model/rnn.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// The ids of `all` in the order of `rows`.
Tensor ids_at(const PackedIds& all, const Tensor& rows) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < rows.elements(); ++i) ids.push_back(all.ids[rows.as<int32_t>()[i]]);
  return int_tensor(std::move(ids), {rows.elements()});
}

// The same of positions (N,2).
Tensor positions_at(const Tensor& positions, const Tensor& rows) {
  std::vector<int32_t> chosen;
  for (int64_t i = 0; i < rows.elements(); ++i) {
    const int32_t* position = positions.view<int32_t>().row(rows.as<int32_t>()[i]);
    chosen.insert(chosen.end(), {position[0], position[1]});
  }
  return int_tensor(std::move(chosen), {rows.elements(), 2});
}

// The first n sentences.
Spans first_spans(const Spans& spans, int64_t n) {
  const auto* offsets = spans.offsets().as<int32_t>();
  return Spans(std::vector<int32_t>(offsets, offsets + n + 1));
}

// One member of the outputs of all steps, in the order of the target.
Var in_target_order(Context& cx, const std::vector<RecurrentDecoder::Output>& done, Var RecurrentDecoder::Output::*part,
                    const Steps& steps) {
  std::vector<Var> parts;
  for (const RecurrentDecoder::Output& now : done) parts.push_back(now.*part);
  return gather_rows(cx, stack_rows(cx, parts), steps.positions);
}

}  // namespace

// What the decoder attends to, with sentences in the order of the steps.
KeysAndValues Rnn::keys_in_order(Context& cx, const Var& states, const Spans& spans,
                                 const std::vector<int>& sentences) {
  std::vector<int32_t> order, lengths;
  for (const int s : sentences) {
    for (int64_t n = spans[s].begin; n < spans[s].end; ++n) order.push_back(int32_t(n));
    lengths.push_back(int32_t(spans[s].end - spans[s].begin));
  }
  const auto N = int64_t(order.size());
  const Spans ordered = Spans::of_lengths(lengths);
  return attention_->keys_and_values(cx, gather_rows(cx, states, int_tensor(std::move(order), {N})), ordered,
                                     positions_of(ordered, {}, any_position));
}

// The sentences of a step are the first ones of the previous step (Steps); each has one query.
std::vector<RecurrentDecoder::Output> Rnn::unroll(Context& cx, const Batch& batch, const Var& summary,
                                                  const KeysAndValues& keys, const Steps& steps, const Tensor& signal) {
  const Tensor positions = positions_of(batch.target.spans, batch.sentences, any_position);
  const RecurrentDecoder::Inputs all =
      inputs(cx, ids_at(shifted(batch.target, config_.first_token()), steps.rows), positions_at(positions, steps.rows));
  const Tensor order = int_tensor({steps.sentences.begin(), steps.sentences.end()}, {int64_t(steps.sentences.size())});
  RecurrentDecoder::State state = decoder_->first_state(cx, gather_rows(cx, summary, order));
  std::vector<RecurrentDecoder::Output> done;
  for (int64_t t = 0; t < steps.count(); ++t) {
    const int64_t from = steps.begins[t], n = steps.width(t);
    for (CellState& layer : state.layers) layer = first_rows(layer, n);
    if (state.feed) state.feed = rows(state.feed, 0, n);
    const RecurrentDecoder::Inputs now{rows(all.gates, from, n), rows(all.embedded, from, n),
                                       all.positions.row_range(from, n)};
    const auto attend = [&](const Var& query) {
      const Spans spans = first_spans(keys.spans, n);
      return (*attention_)(
          cx, {query, Spans::one_row_each(n), now.positions, t, signal ? signal.row_range(from, n) : Tensor()},
          {rows(keys.k, 0, spans.rows()), rows(keys.v, 0, spans.rows()), spans});
    };
    done.push_back(decoder_->step(cx, now, state, attend));
    state = done.back().state;
  }
  return done;
}

Rnn::HiddenStates Rnn::hidden_states(Context& cx, const Batch& batch, AttentionGuide* guide) {
  const AttentionObserver* observer = std::exchange(cx.observer, nullptr);
  const Encoded source = encode(cx, batch.source, batch.sentences);
  const Steps steps(batch.target.spans, Direction::forward);
  Tensor signal;
  if (attention_) signal = attention_->learning_signal(cx, steps.rows.elements(), source.states.dtype());
  KeysAndValues keys;
  if (attention_) keys = keys_in_order(cx, source.states, batch.source.spans, steps.sentences);
  const std::vector<RecurrentDecoder::Output> done = unroll(cx, batch, source.summary, keys, steps, signal);
  cx.observer = observer;
  Var queries;
  if (attention_ && (observer || guide)) queries = in_target_order(cx, done, &RecurrentDecoder::Output::query, steps);
  if (observer && attention_) show(cx, batch, source.states, queries);
  if (guide && attention_) learn_links(cx, batch, queries, keys, steps, *guide);
  return {source.states, in_target_order(cx, done, &RecurrentDecoder::Output::result, steps), signal, steps.positions};
}

// Of all steps at once. The keys are in the order of the steps, the links in that of the batch.
void Rnn::learn_links(Context& cx, const Batch& batch, const Var& queries, const KeysAndValues& keys,
                      const Steps& steps, AttentionGuide& guide) {
  std::vector<int32_t> rows(size_t(keys.spans.rows()));
  for (size_t i = 0; i < steps.sentences.size(); ++i) {
    const Range to = batch.source.spans[steps.sentences[i]], from = keys.spans[int(i)];
    for (int64_t n = to.begin; n < to.end; ++n) rows[size_t(n)] = int32_t(from.begin + n - to.begin);
  }
  const auto N = int64_t(rows.size());
  attention_->guide(cx, {.x = queries, .spans = batch.target.spans, .positions = {}, .guide = &guide},
                    gather_rows(cx, keys.k, int_tensor(std::move(rows), {N})), batch.source.spans);
}

// The observer sees the attention of all steps at once.
void Rnn::show(Context& cx, const Batch& batch, const Var& states, const Var& queries) {
  const Spans &targets = batch.target.spans, &sources = batch.source.spans;
  attention_->show(cx, {.x = queries, .spans = targets, .positions = positions_of(targets, {}, any_position)},
                   attention_->keys_and_values(cx, states, sources, positions_of(sources, {}, any_position)));
}

}  // namespace dragoman
