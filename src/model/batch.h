#pragma once
#include <cstdint>
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

  /// The labels of the batch, each times the weight of its sentence.
  double label_weight() const;
  /// (N) f32: each row of `spans` with the weight of its sentence; not there when all are 1.
  Tensor row_weights(const Spans& spans) const;
};

/// The batch in parts of at most `rows` tokens on either side: neighbouring sentences, all of them, in order. A
/// sentence of more is a part of its own.
std::vector<Batch> parts_of(const Batch& batch, int64_t rows);

}  // namespace dragoman
