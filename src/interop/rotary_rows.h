#pragma once
#include "interop/weight_mapping.h"
#include "model/config.h"

namespace dragoman {

/// Reorders the rows of a query or key, `theirs`, of a program that rotates adjacent numbers of a head together, 2c and
/// 2c + 1: here these are c and c + K/2. Queries and keys in the same new order have the same products.
void separate_rotated_pairs(WeightMapping& weights, const std::string& theirs, const ModelConfig& side);

}  // namespace dragoman
