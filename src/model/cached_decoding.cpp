#include "model/cached_decoding.h"

#include <numeric>

#include "backend/backend.h"
#include "model/batch.h"
#include "ops/rows.h"

namespace dragoman {

CachedDecoding::CachedDecoding(Context& cx, CacheRows source_cache, CacheRows past_cache, OutputWeights output,
                               const CopyHead* copy)
    : cx_(cx),
      source_cache_(std::move(source_cache)),
      past_cache_(std::move(past_cache)),
      sources_(source_cache_),
      prefixes_(past_cache_),
      past_(past_cache_),
      output_(cx, std::move(output)) {
  if (copy) copies_.emplace(cx, *copy, output_.weights().weight.dtype());
}

Spans CachedDecoding::prefix_of(const Spans& source) const {
  return Spans::of_lengths(std::vector<int32_t>(size_t(source.sentences()), 0));
}

void CachedDecoding::add(int first, const PackedIds& source, int width) {
  const Tensor rows = sources_.add(first, source.spans), prefix = prefixes_.add(first, prefix_of(source.spans));
  for (int s = first; s < first + source.spans.sentences(); ++s) {
    const Range held = prefixes_.of(s);
    std::vector<int32_t> begins_with(size_t(held.end - held.begin));
    std::iota(begins_with.begin(), begins_with.end(), int32_t(held.begin));
    past_.add(s, width, std::move(begins_with));
  }
  const Var encoded = encode(first, source, rows, prefix);
  if (copies_) copies_->add(first, source, encoded);
}

void CachedDecoding::restrict(std::span<const int32_t> pieces) {
  invariant(!copies_ || pieces.empty(), "a model that copies needs all pieces");
  output_.restrict(pieces);
}

void CachedDecoding::remove(int sentence) {
  past_.remove(sentence);
  prefixes_.remove(sentence);
  sources_.remove(sentence);
  if (copies_) copies_->remove(sentence);
}

void CachedDecoding::keep_attention() {
  const Shown shown = this->shown();
  invariant(shown.attention != nullptr, "the model has cross-attention");
  if (queries_ < 0) queries_ = past_cache_.add_layer(shown.dim, shown.dtype);
}

void CachedDecoding::keep_queries(Context& cx, const Var& x, const Tensor& rows) {
  if (queries_ >= 0) cx.backend.scatter_rows(past_cache_.layer(queries_), x, rows);
}

void CachedDecoding::show_attention(const AttentionObserver& observer, std::span<const DecodedTokens> hypotheses) {
  std::vector<int32_t> queries, keys, lengths, source_lengths;
  for (const DecodedTokens& h : hypotheses) {
    const std::vector<int32_t> rows = past_.rows_of(h);
    queries.insert(queries.end(), rows.begin(), rows.end());
    lengths.push_back(int32_t(rows.size()));
    const Range source = sources_.of(h.sentence);
    for (int64_t row = source.begin; row < source.end; ++row) keys.push_back(int32_t(row));
    source_lengths.push_back(int32_t(source.end - source.begin));
  }
  Context cx{
      .backend = cx_.backend, .arena = cx_.arena, .packed = cx_.packed, .rounded = cx_.rounded, .observer = &observer};
  const Shown shown = this->shown();
  const auto N = int64_t(queries.size()), M = int64_t(keys.size());
  const Tensor of_queries = int_tensor(std::move(queries), {N}), of_keys = int_tensor(std::move(keys), {M});
  const Tensor& cached = source_cache_.layer(shown.layer);
  const int64_t K = shown.attention->heads.key_columns(), V = shown.attention->heads.value_columns();
  const Spans spans = Spans::of_lengths(lengths);
  shown.attention->show(cx,
                        {.x = gather_rows(cx, Var(past_cache_.layer(queries_)), of_queries),
                         .spans = spans,
                         .positions = positions_of(spans, {}, any_position)},
                        {gather_rows(cx, Var(cached.columns(0, K)), of_keys),
                         gather_rows(cx, Var(cached.columns(K, V)), of_keys), Spans::of_lengths(source_lengths)});
}

Tensor CachedDecoding::logits(Context& cx, std::span<const StepRow> rows, const Var& x) const {
  return copies_ ? copies_->mix(rows, x, output_(cx, x)) : output_(cx, x);
}

}  // namespace dragoman
