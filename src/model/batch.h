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
  PackedIds source, target;        // target may be empty (no sentences) where only the source is known
  std::vector<int32_t> sentences;  // (B) which line of the corpus each pair is: random masks are keyed by it
};

}  // namespace dragoman
