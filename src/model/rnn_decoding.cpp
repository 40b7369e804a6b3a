#include <algorithm>
#include <map>

#include "backend/backend.h"
#include "model/decoded_past.h"
#include "model/output_layer.h"
#include "model/rnn.h"
#include "ops/rows.h"

namespace dragoman {

/// Keys and values of the source lie once a sentence in `memory_`. States lie in `states_`, a row for each token, and
/// the one that a sentence begins with as the first row of its past: a layer of the cache for each layer of the
/// decoder, with h and then c, and one for what Luong's models feed.
class RnnDecoding : public Decoding {
 public:
  RnnDecoding(Rnn& model, Context& cx)
      : model_(model),
        cx_(cx),
        memory_(cx, 1, encoder_dim(), model.embeddings_.target.dtype()),
        states_(cx, model.config_.decoder_layers + 1, state_dim(), model.embeddings_.target.dtype()),
        past_(states_),
        output_(cx, model.embeddings_.output) {
    if (model.copy_) copies_.emplace(cx, *model.copy_, model.embeddings_.target.dtype());
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
    int64_t first_state;     // a row
  };

  int64_t encoder_dim() const { return model_.attention_ ? model_.attention_->cache_columns() : 1; }
  int64_t state_dim() const {
    const int64_t D = model_.config_.rnn.dim;
    return std::max<int64_t>(model_.config_.rnn.decoder.cell == Cell::lstm ? 2 * D : D, model_.config_.dim);
  }
  void keep(const RecurrentDecoder::State& state, const Tensor& into);
  RecurrentDecoder::State kept(const Tensor& rows) const;
  Var attend(const Var& query, std::span<const StepRow> rows, const std::vector<int64_t>& token) const;

  Rnn& model_;
  Context& cx_;
  CacheRows memory_, states_;
  DecodedPast past_;
  OutputLayer output_;
  std::optional<CopySources> copies_;
  std::map<int, Sentence> sentences_;
};

// Puts a state into rows of the cache; what is not there is zero.
void RnnDecoding::keep(const RecurrentDecoder::State& state, const Tensor& into) {
  const int64_t D = model_.config_.rnn.dim;
  const auto put = [&](int layer, int64_t column, int64_t columns, const Var& x) {
    Tensor values = x;
    if (!x) cx_.backend.fill(values = cx_.save({into.elements(), columns}, states_.layer(layer).dtype()), 0);
    cx_.backend.scatter_rows(states_.layer(layer).columns(column, columns), values, into);
  };
  const int L = model_.config_.decoder_layers;
  for (int l = 0; l < L; ++l) {
    put(l, 0, D, state.layers[l].h);
    if (model_.config_.rnn.decoder.cell == Cell::lstm) put(l, D, D, state.layers[l].c);
  }
  if (model_.decoder_->feeds()) put(L, 0, model_.config_.dim, state.feed);
}

RecurrentDecoder::State RnnDecoding::kept(const Tensor& rows) const {
  const int64_t D = model_.config_.rnn.dim;
  const auto get = [&](int layer, int64_t column, int64_t columns) {
    return gather_rows(cx_, Var(states_.layer(layer).columns(column, columns)), rows);
  };
  RecurrentDecoder::State state;
  const int L = model_.config_.decoder_layers;
  for (int l = 0; l < L; ++l)
    state.layers.push_back({get(l, 0, D), model_.config_.rnn.decoder.cell == Cell::lstm ? get(l, D, D) : Var()});
  if (model_.decoder_->feeds()) state.feed = get(L, 0, model_.config_.dim);
  return state;
}

void RnnDecoding::add(int first, const PackedIds& source, int width) {
  const Rnn::Encoded encoded = model_.encode(cx_, source, {});
  std::vector<int32_t> rows, states;
  for (int s = 0; s < source.spans.sentences(); ++s) {
    const Range span = source.spans[s];
    const Sentence sentence{memory_.take(span.end - span.begin), span.end - span.begin, states_.take(1)};
    for (int64_t i = 0; i < sentence.length; ++i) rows.push_back(int32_t(sentence.memory + i));
    states.push_back(int32_t(sentence.first_state));
    past_.add(first + s, width, {states.back()});
    sentences_.emplace(first + s, sentence);
  }
  keep(model_.decoder_->first_state(cx_, encoded.summary), int_tensor(states, {int64_t(states.size())}));
  if (copies_) copies_->add(first, source, encoded.states);
  if (!model_.attention_) return;
  const KeysAndValues seen = model_.attention_->keys_and_values(cx_, encoded.states, source.spans,
                                                                positions_of(source.spans, {}, any_position));
  cache_rows(cx_, memory_.layer(0), int_tensor(rows, {int64_t(rows.size())}), seen.k, seen.v);
}

void RnnDecoding::remove(int handle) {
  const auto found = sentences_.find(handle);
  if (found == sentences_.end()) return;
  const Sentence& sentence = found->second;
  memory_.give_back(sentence.memory, sentence.length);
  past_.remove(handle);
  if (copies_) copies_->remove(handle);
  states_.give_back(sentence.first_state, 1);
  sentences_.erase(found);
}

Var RnnDecoding::attend(const Var& query, std::span<const StepRow> rows, const std::vector<int64_t>& token) const {
  const auto R = int64_t(rows.size());
  std::vector<int32_t> lengths, begins;
  int64_t longest = 0;
  for (const StepRow& row : rows) {
    const Sentence& sentence = sentences_.at(row.sentence);
    begins.push_back(int32_t(sentence.memory));
    lengths.push_back(int32_t(sentence.length));
    longest = std::max(longest, sentence.length);
  }
  const StepKeys keys{.length = int_tensor(std::move(lengths), {R}),
                      .begin = int_tensor(std::move(begins), {R}),
                      .position = int_tensor({token.begin(), token.end()}, {R})};
  return model_.attention_->step(cx_, query, memory_.layer(0), keys, longest);
}

Tensor RnnDecoding::step(std::span<const StepRow> rows) {
  DecodedPast::Step past = past_.step(rows);
  const auto R = int64_t(rows.size());
  std::vector<int32_t> before, ids, positions;
  for (int64_t r = 0; r < R; ++r) {
    --past.token[r];  // the state that a sentence begins with is no token
    before.push_back(past.keys.table.view<int32_t>()(r, past.token[r]));
    ids.push_back(rows[r].parent < 0 ? model_.config_.first_token() : rows[r].token);
    positions.insert(positions.end(), {0, int32_t(past.token[r])});
  }
  const RecurrentDecoder::Words words =
      model_.words(cx_, int_tensor(std::move(ids), {R}), int_tensor(std::move(positions), {R, 2}));
  const RecurrentDecoder::Output now =
      model_.decoder_->step(cx_, words, kept(int_tensor(std::move(before), {R})),
                            [&](const Var& query) { return attend(query, rows, past.token); });
  keep(now.state, past.cached);
  return copies_ ? copies_->mix(rows, now.result, output_(cx_, now.result)) : output_(cx_, now.result);
}

std::unique_ptr<Decoding> Rnn::decode(Context& cx) { return std::make_unique<RnnDecoding>(*this, cx); }

}  // namespace dragoman
