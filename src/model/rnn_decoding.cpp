#include <algorithm>

#include "backend/backend.h"
#include "model/cached_decoding.h"
#include "model/rnn.h"
#include "ops/rows.h"

namespace dragoman {

/// The source cache holds keys and values of the encoder's output. The past cache holds states, one row per token; the
/// first row of a sentence holds its initial state. It has a layer for each layer of the decoder, with h and then c,
/// and one for State::feed.
class RnnDecoding : public CachedDecoding {
 public:
  RnnDecoding(Rnn& model, Context& cx)
      : CachedDecoding(cx, new_cache(model, cx, 1, model.attention_ ? model.attention_->cache_columns() : 1),
                       new_cache(model, cx, model.config_.decoder_layers + 1, state_dim(model.config_)),
                       model.embeddings_.output_weights(), model.copy_ ? &*model.copy_ : nullptr),
        model_(model),
        D_(model.config_.rnn.dim),
        layers_(model.config_.decoder_layers),
        has_c_(model.config_.rnn.decoder.cell == Cell::lstm) {}

 private:
  static CacheRows new_cache(const Rnn& model, Context& cx, int layers, int64_t columns) {
    return {cx, layers, columns, model.embeddings_.target.dtype()};
  }
  static int64_t state_dim(const ModelConfig& c) {
    return std::max<int64_t>(c.rnn.decoder.cell == Cell::lstm ? 2 * c.rnn.dim : c.rnn.dim, c.dim);
  }
  Spans prefix_of(const Spans& source) const override { return Spans::one_row_each(source.sentences()); }
  Var encode(int first, const PackedIds& source, const Tensor& rows, const Tensor& prefix) override;
  Tensor compute(std::span<const StepRow> rows, const DecodedPast::Step& past) override;
  Shown shown() const override { return {model_.attention_, 0, D_, model_.embeddings_.target.dtype()}; }
  void write_state(const RecurrentDecoder::State& state, const Tensor& into);
  RecurrentDecoder::State read_state(const Tensor& rows) const;

  Rnn& model_;
  const int64_t D_;
  const int layers_;
  const bool has_c_;
};

// Writes a state into rows of the cache; empty parts are zeros.
void RnnDecoding::write_state(const RecurrentDecoder::State& state, const Tensor& into) {
  const auto put = [&](int layer, int64_t column, int64_t columns, const Var& x) {
    Tensor values = x;
    if (!x) cx_.backend.fill(values = cx_.save({into.elements(), columns}, past_cache_.layer(layer).dtype()), 0);
    cx_.backend.scatter_rows(past_cache_.layer(layer).columns(column, columns), values, into);
  };
  for (int l = 0; l < layers_; ++l) {
    put(l, 0, D_, state.layers[l].h);
    if (has_c_) put(l, D_, D_, state.layers[l].c);
  }
  if (model_.decoder_->feeds()) put(layers_, 0, model_.config_.dim, state.feed);
}

RecurrentDecoder::State RnnDecoding::read_state(const Tensor& rows) const {
  const auto get = [&](int layer, int64_t column, int64_t columns) {
    return gather_rows(cx_, Var(past_cache_.layer(layer).columns(column, columns)), rows);
  };
  RecurrentDecoder::State state;
  for (int l = 0; l < layers_; ++l) state.layers.push_back({get(l, 0, D_), has_c_ ? get(l, D_, D_) : Var()});
  if (model_.decoder_->feeds()) state.feed = get(layers_, 0, model_.config_.dim);
  return state;
}

Var RnnDecoding::encode(int, const PackedIds& source, const Tensor& rows, const Tensor& prefix) {
  const Rnn::Encoded encoded = model_.encode(cx_, source, {});
  write_state(model_.decoder_->first_state(cx_, encoded.summary), prefix);
  if (!model_.attention_) return encoded.states;
  const KeysAndValues seen = model_.attention_->keys_and_values(cx_, encoded.states, source.spans,
                                                                positions_of(source.spans, {}, any_position));
  cache_rows(cx_, source_cache_.layer(0), rows, seen.k, seen.v);
  return encoded.states;
}

// The initial state is not a token, so a row has one token fewer before it than rows of past.
Tensor RnnDecoding::compute(std::span<const StepRow> rows, const DecodedPast::Step& past) {
  const auto R = int64_t(rows.size());
  std::vector<int32_t> before, ids, positions, tokens;
  for (int64_t r = 0; r < R; ++r) {
    tokens.push_back(int32_t(past.token[r] - 1));
    before.push_back(past.keys.table.view<int32_t>()(r, tokens.back()));
    ids.push_back(rows[r].parent < 0 ? model_.config_.first_token() : rows[r].token);
    positions.insert(positions.end(), {0, tokens.back()});
  }
  HeldRows::Step source = sources_.step(rows);
  source.keys.position = int_tensor(std::move(tokens), {R});
  const RecurrentDecoder::Inputs inputs =
      model_.inputs(cx_, int_tensor(std::move(ids), {R}), int_tensor(std::move(positions), {R, 2}));
  const RecurrentDecoder::Output now =
      model_.decoder_->step(cx_, inputs, read_state(int_tensor(std::move(before), {R})), [&](const Var& query) {
        keep_queries(cx_, query, past.cached);
        return model_.attention_->step(cx_, query, source_cache_.layer(0), source.keys, source.longest);
      });
  write_state(now.state, past.cached);
  return logits(cx_, rows, now.result);
}

std::unique_ptr<Decoding> Rnn::decode(Context& cx) { return std::make_unique<RnnDecoding>(*this, cx); }

}  // namespace dragoman
