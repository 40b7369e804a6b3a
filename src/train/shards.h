#pragma once
#include <span>
#include <vector>

#include "model/batch.h"

namespace dragoman {

/// Neighbouring sentences of one of the batches of an update.
struct BatchPart {
  size_t batch;
  Range sentences;
};

/// The sentences of an update in `count` shards of neighbouring sentences with about as many tokens of both sides each;
/// a function of the batches alone. Shards are empty if there are fewer sentences.
std::vector<std::vector<BatchPart>> shards_of(std::span<const Batch> batches, int count);

}  // namespace dragoman
