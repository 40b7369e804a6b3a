#include "model/rnn.h"

#include <cmath>
#include <utility>

#include "backend/backend.h"
#include "model/sentences.h"
#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

Var make_matrix(Parameters& p, const std::string& name, int64_t rows, int64_t cols) {
  return p.matrix({{name + ".weight", rows, Init::glorot(rows, cols)}}, cols);
}

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

// The first or the last row of each sentence.
Tensor end_rows(const Spans& spans, bool last) {
  std::vector<int32_t> rows;
  for (int s = 0; s < spans.sentences(); ++s) rows.push_back(int32_t(last ? spans[s].end - 1 : spans[s].begin));
  return int_tensor(std::move(rows), {spans.sentences()});
}

// Some sentences of `spans`, in any order: the rows they have now, and where they begin then.
struct Reordered {
  Tensor rows;  // (N) int32
  Spans spans;
};
Reordered reordered(const Spans& spans, const std::vector<int>& sentences) {
  std::vector<int32_t> rows, lengths;
  for (const int s : sentences) {
    for (int64_t n = spans[s].begin; n < spans[s].end; ++n) rows.push_back(int32_t(n));
    lengths.push_back(int32_t(spans[s].end - spans[s].begin));
  }
  const auto N = int64_t(rows.size());
  return {int_tensor(std::move(rows), {N}), Spans::of_lengths(lengths)};
}

// The first n sentences.
Spans first_spans(const Spans& spans, int64_t n) {
  const auto* offsets = spans.offsets().as<int32_t>();
  return Spans(std::vector<int32_t>(offsets, offsets + n + 1));
}

Var add(Context& cx, const Var& x, const Var& y) { return residual(cx, x, y, {}); }

}  // namespace

Rnn::Rnn(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype, bool gradients)
    : config_(config),
      parameters_(backend, arena, dtype, gradients),
      embeddings_(Embeddings::make(parameters_, config)),
      positions_(config.dim, SinusoidOrder::halves, dtype) {
  require(config.source_vocabulary > 0 && config.target_vocabulary > 0, "a model needs the sizes of its vocabularies");
  make_encoder();
  make_decoder();
  if (config_.copies) copy_ = make_copy_head(parameters_, config_, config_.rnn.dim);
}

void Rnn::make_encoder() {
  const int64_t D = config_.rnn.dim;
  if (config_.rnn.encoder.type == EncoderType::convolutional) {
    encoder_input_ = Linear::make(parameters_, {"encoder.input"}, {D}, config_.dim);
    for (int l = 0; l < config_.encoder_layers; ++l)
      convolutions_.push_back(
          GatedConvolution::make(parameters_, fmt::format("encoder.{}", l), D, config_.rnn.encoder.kernel));
  } else {
    make_recurrent_encoder();
  }
  if (config_.rnn.encoder.pooling == EncoderPooling::attention)
    pooling_query_ = make_table(parameters_, "encoder.pooling.query", 1, D, Parameters::Use::lookup);
  if (config_.rnn.encoder.pooling != EncoderPooling::hierarchical) return;
  require(config_.rnn.encoder.type != EncoderType::convolutional,
          "hierarchical pooling reads sentences by recurrent layers");
  hierarchy_ = Hierarchy{AttentionPooling::make(parameters_, "encoder.pooling.words", D),
                         make_encoder_layer("encoder.sentences.", D),
                         AttentionPooling::make(parameters_, "encoder.pooling.sentences", D)};
}

void Rnn::make_recurrent_encoder() {
  for (int l = 0; l < config_.encoder_layers; ++l)
    encoder_.push_back(make_encoder_layer(fmt::format("encoder.{}.", l), l == 0 ? config_.dim : config_.rnn.dim));
}

Rnn::EncoderLayer Rnn::make_encoder_layer(const std::string& name, int64_t inputs) {
  const bool both = config_.rnn.encoder.type == EncoderType::bidirectional;
  const int64_t D = config_.rnn.dim;
  const Recurrence::Design design{config_.rnn.encoder.cell, inputs, both ? D / 2 : D, config_.rnn.norm};
  EncoderLayer layer{Recurrence::make(parameters_, name + "forward", design), {}};
  if (both) layer.backward = Recurrence::make(parameters_, name + "backward", design);
  return layer;
}

void Rnn::make_decoder() {
  const int64_t D = config_.rnn.dim, E = config_.dim;
  for (int l = 0; l < config_.decoder_layers; ++l) {
    const std::string name = fmt::format("decoder.{}.", l);
    initial_.push_back(Linear::make(parameters_, {name + "initial"}, {D}, D));
    decoder_.push_back(
        Recurrence::make(parameters_, name + "cell", {config_.rnn.decoder.cell, l == 0 ? E : D, D, config_.rnn.norm}));
  }
  read_state_ = Linear::make(parameters_, {"decoder.readout.state"}, {E}, D);
  if (!luong()) read_word_ = make_matrix(parameters_, "decoder.readout.word", E, E);
  if (config_.rnn.decoder.attention == RnnAttention::none) return;
  const AttentionDesign design = attention_design();
  const int64_t values = int64_t{design.sizes.heads} * design.sizes.value;
  attention_ = CrossAttention::make(parameters_, "decoder.0.cross_attention", D, design);
  feed_ = make_matrix(parameters_, "decoder.0.feed", gates_of(config_.rnn.decoder.cell) * D, luong() ? E : values);
  read_context_ = make_matrix(parameters_, "decoder.readout.context", E, values);
}

AttentionDesign Rnn::attention_design() const {
  return {.sizes = {config_.heads, config_.head_keys(), config_.head_values()},
          .score = config_.attention.score,
          .projections = config_.attention.projections,
          .norm = config_.attention.norm,
          .window = config_.attention.local > 0 ? config_.attention.local : -1,
          .center = config_.attention.local_center,
          .choice = config_.attention.choice,
          .reward = config_.attention.reward,
          .entropy = config_.attention.entropy,
          .locations = config_.max_positions,
          .projects_result = false,
          .dropout = config_.dropout.attention};
}

Var Rnn::embed(Context& cx, const Var& table, const Tensor& ids, const Tensor& positions, const Var& position_table) {
  const double rate = config_.dropout.embedding < 0 ? config_.dropout.rnn : config_.dropout.embedding;
  return embedding(cx, {ids, positions, table, position_table, std::sqrt(double(config_.dim))},
                   cx.dropout(rate, positions));
}

Rnn::Encoded Rnn::encode(Context& cx, const PackedIds& source, std::span<const int32_t> sentences) {
  const Tensor ids = int_tensor(source.ids, {source.spans.rows()});
  const Tensor positions = positions_of(source.spans, sentences, any_position);
  if (!hierarchy_) return encode_rows(cx, ids, positions, source.spans);
  const auto [rows, lines] = sentences_of(source, config_.rnn.encoder.sentence_ends);
  Encoded encoded = encode_rows(cx, ids, positions, rows);
  encoded.summary = summary_of_sentences(cx, encoded.summary, lines, sentences);
  return encoded;
}

Rnn::Encoded Rnn::encode_rows(Context& cx, const Tensor& ids, const Tensor& positions, const Spans& spans) {
  if (config_.rnn.encoder.type != EncoderType::convolutional)
    return recur(cx, embed(cx, embeddings_.source, ids, positions), spans, positions);
  Var position_table;
  if (sinusoids_added(config_.positions)) position_table = Var(positions_.table(cx.arena, cx.backend, spans.longest()));
  return convolve(cx, embed(cx, embeddings_.source, ids, positions, position_table), spans, positions);
}

Var Rnn::BothDirections::joined(Context& cx) const { return backward ? join_columns(cx, forward, backward) : forward; }

Rnn::BothDirections Rnn::EncoderLayer::operator()(Context& cx, const Var& x, const Steps& first,
                                                  const Steps& second) const {
  return {forward(cx, x, first), backward ? (*backward)(cx, x, second) : Var()};
}

Rnn::Encoded Rnn::recur(Context& cx, Var x, const Spans& spans, const Tensor& positions) {
  const Steps first(spans, config_.rnn.encoder.reverse ? Direction::reversed : Direction::forward),
      second(spans, Direction::backward);
  BothDirections read;
  for (const EncoderLayer& layer : encoder_) {
    if (read.forward) x = dropout(cx, x, cx.dropout(config_.dropout.rnn, positions));
    read = layer(cx, x, first, second);
    x = read.joined(cx);
  }
  return {x, summary(cx, x, read.forward, read.backward, spans)};
}

Rnn::Encoded Rnn::convolve(Context& cx, Var x, const Spans& spans, const Tensor& positions) {
  x = encoder_input_(cx, x);
  for (const GatedConvolution& layer : convolutions_)
    x = layer(cx, x, spans, cx.dropout(config_.dropout.rnn, positions));
  return {x, summary(cx, x, x, Var(), spans)};
}

Var Rnn::summary(Context& cx, const Var& memory, const Var& forward, const Var& backward, const Spans& spans) {
  switch (config_.rnn.encoder.pooling) {
    case EncoderPooling::last: {
      const Var last = gather_rows(cx, forward, end_rows(spans, true));
      return backward ? join_columns(cx, last, gather_rows(cx, backward, end_rows(spans, false))) : last;
    }
    case EncoderPooling::sum:
      return pool(cx, memory, spans, Pool::sum);
    case EncoderPooling::mean:
      return pool(cx, memory, spans, Pool::mean);
    case EncoderPooling::attention:
      return pool_by_query(cx, pooling_query_, memory, memory, spans);
    case EncoderPooling::hierarchical:
      return hierarchy_->words(cx, memory, spans);
  }
  fail("an encoder cannot be pooled by {}", name_of(config_.rnn.encoder.pooling));
}

// Sentences are the words of this level: x (S,D), a span of them for each line.
Var Rnn::summary_of_sentences(Context& cx, const Var& x, const Spans& lines, std::span<const int32_t> numbers) {
  const Tensor positions = positions_of(lines, numbers, any_position);
  const BothDirections read = hierarchy_->layer(cx, dropout(cx, x, cx.dropout(config_.dropout.rnn, positions)),
                                                {lines, Direction::forward}, {lines, Direction::backward});
  return hierarchy_->sentences(cx, read.joined(cx), lines);
}

Rnn::State Rnn::first_state(Context& cx, const Var& summary) {
  State state;
  for (const Linear& initial : initial_) state.layers.push_back({initial(cx, summary, Activation::tanh), Var()});
  return state;
}

Rnn::StepWords Rnn::words(Context& cx, const Tensor& ids, const Tensor& positions) {
  const Var embedded = embed(cx, embeddings_.target, ids, positions);
  return {decoder_[0].gates(cx, embedded), embedded, positions};
}

Var Rnn::read(Context& cx, const Var& h, const Var& context, const StepWords& words) {
  Var sum = read_state_(cx, h);
  if (context) sum = add(cx, sum, linear(cx, context, read_context_, Var()));
  if (read_word_) sum = add(cx, sum, linear(cx, words.embedded, read_word_, Var()));
  return activation(cx, sum, Activation::tanh);
}

Rnn::StepOutput Rnn::step(Context& cx, const StepWords& words, const State& before, const Attend& attend) {
  StepOutput now;
  Var context, gates = words.gates;
  if (attention_ && !luong()) {
    now.query = before.layers[0].h;
    context = attend(now.query);
  }
  if (const Var fed = luong() ? before.feed : context) gates = add(cx, gates, linear(cx, fed, feed_, Var()));
  for (size_t l = 0; l < decoder_.size(); ++l) {
    if (l > 0) {
      const Var below = now.state.layers[l - 1].h;
      gates = decoder_[l].gates(cx, dropout(cx, below, cx.dropout(config_.dropout.rnn, words.positions)));
    }
    now.state.layers.push_back(decoder_[l].step(cx, gates, before.layers[l]));
  }
  const Var& h = now.state.layers.back().h;
  if (luong()) {
    now.query = h;
    context = attend(h);
  }
  now.output = read(cx, h, context, words);
  if (luong()) now.state.feed = now.output;
  now.output = dropout(cx, now.output, cx.dropout(config_.dropout.rnn, words.positions));
  return now;
}

KeysAndValues Rnn::keys_in_order(Context& cx, const Var& memory, const Spans& spans,
                                 const std::vector<int>& sentences) {
  if (!attention_) return {};
  const Reordered keys = reordered(spans, sentences);
  const Var rows = gather_rows(cx, memory, keys.rows);
  return attention_->keys_and_values(cx, rows, keys.spans, positions_of(keys.spans, {}, any_position));
}

// One query for each of the first sentences.
Var Rnn::attend(Context& cx, const Var& query, const KeysAndValues& keys, const StepPositions& at) {
  const Spans seen = first_spans(keys.spans, query.rows());
  return (*attention_)(cx, {query, Spans::one_row_each(query.rows()), at.positions, at.t, at.signal},
                       {rows(keys.k, 0, seen.rows()), rows(keys.v, 0, seen.rows()), seen});
}

std::vector<Rnn::StepOutput> Rnn::unroll(Context& cx, const Batch& batch, const Encoded& source, const Steps& steps,
                                         const Tensor& signal) {
  const Tensor positions = positions_of(batch.target.spans, batch.sentences, any_position);
  const StepWords all = words(cx, ids_at(shifted(batch.target), steps.rows), positions_at(positions, steps.rows));
  const KeysAndValues keys = keys_in_order(cx, source.memory, batch.source.spans, steps.sentences);
  const Tensor order = int_tensor({steps.sentences.begin(), steps.sentences.end()}, {int64_t(steps.sentences.size())});
  State state = first_state(cx, gather_rows(cx, source.summary, order));
  std::vector<StepOutput> done;
  for (int64_t t = 0; t < steps.count(); ++t) {
    const int64_t from = steps.begins[t], n = steps.width(t);
    for (CellState& layer : state.layers) layer = first_rows(layer, n);
    if (state.feed) state.feed = rows(state.feed, 0, n);
    const StepWords now{rows(all.gates, from, n), rows(all.embedded, from, n), all.positions.row_range(from, n)};
    const StepPositions at{now.positions, t, signal ? signal.row_range(from, n) : Tensor()};
    done.push_back(step(cx, now, state, [&](const Var& query) { return attend(cx, query, keys, at); }));
    state = done.back().state;
  }
  return done;
}

Var Rnn::in_target_order(Context& cx, const std::vector<StepOutput>& done, Var StepOutput::*part, const Steps& steps) {
  std::vector<Var> parts;
  for (const StepOutput& now : done) parts.push_back(now.*part);
  return gather_rows(cx, stack_rows(cx, parts), steps.positions);
}

Rnn::HiddenStates Rnn::hidden_states(Context& cx, const Batch& batch) {
  const AttentionObserver* observer = std::exchange(cx.observer, nullptr);
  const Encoded source = encode(cx, batch.source, batch.sentences);
  const Steps steps(batch.target.spans, Direction::forward);
  Tensor signal;
  if (attention_) signal = attention_->learning_signal(cx, steps.rows.elements(), source.memory.dtype());
  const std::vector<StepOutput> done = unroll(cx, batch, source, steps, signal);
  cx.observer = observer;
  if (observer && attention_) show(cx, batch, source, in_target_order(cx, done, &StepOutput::query, steps));
  return {source.memory, in_target_order(cx, done, &StepOutput::output, steps), signal, steps.positions};
}

// The observer sees the attention of all steps at once.
void Rnn::show(Context& cx, const Batch& batch, const Encoded& source, const Var& queries) {
  const Spans &targets = batch.target.spans, &sources = batch.source.spans;
  attention_->show(cx, {.x = queries, .spans = targets, .positions = positions_of(targets, {}, any_position)},
                   attention_->keys_and_values(cx, source.memory, sources, positions_of(sources, {}, any_position)));
}

TokenLoss Rnn::loss(Context& cx, const Batch& batch, double label_smoothing) {
  const auto [memory, x, signal, positions] = hidden_states(cx, batch);
  const Tensor weights = batch.row_weights(batch.target.spans);
  const TokenLoss loss = linear_cross_entropy(cx, x, embeddings_.output,
                                              {.ids = int_tensor(batch.target.ids, {x.rows()}),
                                               .smoothing = label_smoothing,
                                               .weights = weights,
                                               .copying = copy_ ? (*copy_)(cx, x, memory, batch) : Copying{}});
  if (attention_) attention_->reward(cx, {signal, loss.loss, weights, positions, batch.target.spans, cx.baseline});
  return loss;
}

Tensor Rnn::logits(Context& cx, const Batch& batch) {
  const HiddenStates both = hidden_states(cx, batch);
  const Var logits = linear(cx, both.x, embeddings_.output, Var());
  return copy_ ? mix_copies(cx, *copy_, batch, both.x, both.memory, logits) : logits;
}

}  // namespace dragoman
