#pragma once
#include <vector>

#include "nn/positions.h"

namespace dragoman {

/// ALiBi (LinearBias, nn/positions.h) as T5's biases, for programs that have these on both sides: exact for distances
/// that have a range of their own, and near for the ranges of others.  (buckets, H), in the order of
/// distance_buckets().
std::vector<float> alibi_table(const BucketDesign& design, int heads);

}  // namespace dragoman
