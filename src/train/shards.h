#pragma once
#include <span>
#include <vector>

#include "model/batch.h"

namespace dragoman {

/// Consecutive sentences of one batch of an update.
struct BatchPart {
  size_t batch;
  Range sentences;
};

/// Divides the sentences of an update into `count` shards of consecutive sentences with about equally many tokens of
/// both sides. Depends only on the batches. With fewer sentences than shards, some shards are empty.
std::vector<std::vector<BatchPart>> shards_of(std::span<const Batch> batches, int count);

}  // namespace dragoman
