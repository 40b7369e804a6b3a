#include "align/model_alignment.h"

#include "backend/attention_shape.h"
#include "base/error.h"

namespace dragoman {
namespace {

// weights (H · Σ nq·nk): a matrix (nq,nk) for each sentence and head. Returns the mean over heads.
Alignment mean_over_heads(const AttentionShape& shape, int sentence, const float* weights) {
  const Range queries = shape.queries[sentence], keys = shape.keys[sentence];
  const int64_t pairs = (queries.end - queries.begin) * (keys.end - keys.begin);
  const float* of_sentence = weights + shape.heads * shape.pairs_before(sentence);
  Alignment alignment{keys.end - keys.begin, std::vector<float>(pairs)};
  for (int h = 0; h < shape.heads; ++h)
    for (int64_t i = 0; i < pairs; ++i) alignment.weights[i] += of_sentence[h * pairs + i] / float(shape.heads);
  return alignment;
}

}  // namespace

void require_cross_attention(const ModelConfig& config) {
  require(config.has_cross_attention(), "--alignment: the model has no cross-attention to take the alignment from");
}

AlignmentObserver::AlignmentObserver()
    : observer_([this](const ObservedAttention& a) {
        if (!a.name.ends_with("cross_attention")) return;
        last_.clear();  // later layers replace earlier ones
        const Tensor weights = a.weights.on_host();
        for (int s = 0; s < a.shape.queries.sentences(); ++s)
          last_.push_back(mean_over_heads(a.shape, s, weights.as<float>()));
      }) {}

std::vector<Alignment> AlignmentObserver::take() {
  invariant(!last_.empty(), "the model has cross-attention");
  return std::exchange(last_, {});
}

void put(std::vector<Alignment> some, std::span<const size_t> numbers, std::vector<Alignment>& all) {
  for (size_t i = 0; i < numbers.size(); ++i) all[numbers[i]] = std::move(some[i]);
}

std::vector<Alignment> align(const Context& cx, Model& model, std::span<const IdPair> pairs, int64_t batch_words) {
  std::vector<Alignment> alignments(pairs.size());
  AlignmentObserver aligner;
  for_each_batch(pairs, batch_words, [&](const Batch& batch, std::span<const size_t> numbers) {
    if (batch.target.ids.empty()) return;  // no queries
    Context observed{.backend = cx.backend,
                     .arena = cx.arena,
                     .packed = cx.packed,
                     .rounded = cx.rounded,
                     .observer = aligner.observer()};
    model.loss(observed, batch, 0);  // unlike logits, needs memory for some rows at a time
    put(aligner.take(), numbers, alignments);
  });
  return alignments;
}

}  // namespace dragoman
