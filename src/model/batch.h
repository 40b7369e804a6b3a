#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tensor/spans.h"

namespace dragoman {

/// Token ids of several sentences laid end to end, without padding; each sentence ends with </s>.
struct PackedIds {
  std::vector<int32_t> ids;  // (N)
  Spans spans;               // B sentences over N ids
};

/// What a model learns from or scores in one go: B sentence pairs.
struct Batch {
  PackedIds source, target;         // target may be empty (no sentences) where only the source is known
  std::vector<int32_t> sentences;   // (B) which line of the corpus each pair is: random masks are keyed by it
  std::vector<float> weights = {};  // (B) of each sentence in the loss; empty: all 1

  /// The target tokens of the batch, each times the weight of its sentence.
  double target_weight() const;
  void multiply_weights(float factor);
  /// (N) f32: each row of `spans` with the weight of its sentence; not there when all are 1.
  Tensor row_weights(const Spans& spans) const;
};

/// What a decoder reads to predict `target`: `first` (ModelConfig::first_token) and all but the last token of each
/// sentence.
PackedIds shifted(const PackedIds& target, int32_t first);

/// (N,2) int32: of each row its sentence of the corpus, 0 where `sentences` is empty, and its position there, at most
/// `last`.
constexpr int64_t any_position = std::numeric_limits<int32_t>::max();
Tensor positions_of(const Spans& spans, std::span<const int32_t> sentences, int64_t last);

/// Sentences [begin, end) of a batch; there is at least one.
Batch sentences_of(const Batch& batch, Range sentences);

/// The batch in parts of at most `rows` tokens on either side: neighbouring sentences, all of them, in order. A
/// sentence of more is a part of its own.
std::vector<Batch> micro_batches_of(const Batch& batch, int64_t rows);
/// The batch in parts of about equal size, as few as with at most `rows` tokens on either side there would have to be.
/// A part may have more, by a sentence.
std::vector<Batch> even_micro_batches_of(const Batch& batch, int64_t rows);

}  // namespace dragoman
