#pragma once
#include "tensor/tensor.h"

namespace dragoman {

/// Locates the past of each row of a decoding step. Row r has `length(r)` keys; the t-th lies in row `table(r, t)` of
/// the key matrix, or, without a table, in row `begin(r) + t`.
struct StepKeys {
  Tensor length;         // (R) int32
  Tensor begin = {};     // (R) int32, where table is empty
  Tensor table = {};     // (R,T) int32 or empty: through it beams find their ancestors
  Tensor position = {};  // (R) int32: the query's position among its keys; empty: the last, as in a decoder
};

}  // namespace dragoman
