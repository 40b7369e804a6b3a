#include "model/cached_decoding.h"

#include <numeric>

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

Tensor CachedDecoding::logits(Context& cx, std::span<const StepRow> rows, const Var& x) const {
  return copies_ ? copies_->mix(rows, x, output_(cx, x)) : output_(cx, x);
}

}  // namespace dragoman
