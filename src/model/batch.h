#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/token_link.h"
#include "tensor/spans.h"

namespace dragoman {

/// Token ids of several sentences laid end to end, without padding; each sentence ends with </s>.
struct PackedIds {
  std::vector<int32_t> ids;  // (N)
  Spans spans;               // B sentences over N ids
};

/// B sentence pairs, which a model trains on or scores together.
struct Batch {
  PackedIds source, target;         // target has no sentences if only the source is known
  std::vector<int32_t> sentences;   // (B) line of the corpus of each pair: random masks are keyed by it
  std::vector<float> weights = {};  // (B) of each sentence in the loss; empty: all 1
  /// (B) links that attention learns, none twice, of the tokens in source and target; empty: it learns none.
  std::vector<std::vector<TokenLink>> links = {};
  double links_weight = 0;  // of their loss
  double mean_weight = 1;   // of the target tokens of its text

  /// The weight that its target tokens have on average: their number times mean_weight.
  double expected_weight() const { return double(target.ids.size()) * mean_weight; }
  /// The target tokens of the batch, each times the weight of its sentence.
  double target_weight() const;
  /// The target tokens that have links, each times the weight of its sentence and links_weight.
  double linked_weight() const;
  void multiply_weights(float factor);
  /// (N) f32: for each row of `spans` the weight of its sentence; absent if all weights are 1.
  Tensor row_weights(const Spans& spans) const;
};

/// What a decoder reads to predict `target`: `first` (ModelConfig::first_token) and all but the last token of each
/// sentence.
PackedIds shifted(const PackedIds& target, int32_t first);

/// (N,2) int32: for each row the number of its sentence in the corpus (0 if `sentences` is empty) and its position in
/// the sentence, at most `last`.
constexpr int64_t any_position = std::numeric_limits<int32_t>::max();
Tensor positions_of(const Spans& spans, std::span<const int32_t> sentences, int64_t last);

/// Sentences [begin, end) of a batch; there is at least one.
Batch sentences_of(const Batch& batch, Range sentences);

/// Splits the batch into micro-batches of neighbouring sentences, with at most `rows` tokens on either side. A longer
/// sentence is a micro-batch of its own.
std::vector<Batch> micro_batches_of(const Batch& batch, int64_t rows);
/// Splits the batch into micro-batches of about equal size: as many as are needed for at most `rows` tokens on either
/// side. A micro-batch may exceed that by one sentence.
std::vector<Batch> even_micro_batches_of(const Batch& batch, int64_t rows);

}  // namespace dragoman
