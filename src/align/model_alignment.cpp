#include "align/model_alignment.h"

#include "backend/attention_shape.h"
#include "base/error.h"

namespace dragoman {
namespace {

// weights (H · Σ nq·nk): a matrix (nq,nk) for each sentence and head. Returns the mean over the first heads.
Alignment mean_over_heads(const AttentionShape& shape, int sentence, const float* weights, int heads) {
  const Range queries = shape.queries[sentence], keys = shape.keys[sentence];
  const int64_t pairs = (queries.end - queries.begin) * (keys.end - keys.begin);
  const float* of_sentence = weights + shape.heads * shape.pairs_before(sentence);
  Alignment alignment{keys.end - keys.begin, std::vector<float>(pairs)};
  for (int h = 0; h < heads; ++h)
    for (int64_t i = 0; i < pairs; ++i) alignment.weights[i] += of_sentence[h * pairs + i] / float(heads);
  return alignment;
}

}  // namespace

void require_cross_attention(const ModelConfig& config) {
  require(config.has_cross_attention(), "--alignment: the model has no cross-attention to take the alignment from");
}

std::vector<Alignment> alignments_of(const ObservedAttention& a, const AlignmentConfig& config) {
  std::vector<Alignment> found;
  const Tensor weights = a.weights.on_host();
  for (int s = 0; s < a.shape.queries.sentences(); ++s)
    found.push_back(mean_over_heads(a.shape, s, weights.as<float>(), config.heads > 0 ? config.heads : a.shape.heads));
  return found;
}

AlignmentObserver::AlignmentObserver(const ModelConfig& config)
    : config_(config.alignment), observer_([this](const ObservedAttention& a) {
        if (!a.name.ends_with("cross_attention")) return;
        ++layers_;
        if (config_.layer > 0 && layers_ != config_.layer) return;
        found_ = alignments_of(a, config_);  // a later layer replaces earlier ones
      }) {}

std::vector<Alignment> AlignmentObserver::take() {
  invariant(!found_.empty(), "the model has cross-attention");
  layers_ = 0;
  return std::exchange(found_, {});
}

void put(std::vector<Alignment> some, std::span<const size_t> numbers, std::vector<Alignment>& all) {
  for (size_t i = 0; i < numbers.size(); ++i) all[numbers[i]] = std::move(some[i]);
}

}  // namespace dragoman
