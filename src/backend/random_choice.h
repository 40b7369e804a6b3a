#pragma once
#include "base/philox.h"

namespace dragoman {

/// A number in [0, 1) for a row, keyed by its position like masks (backend/dropout.h), in a group of columns that no
/// mask uses. It selects the first j whose cumulative weight exceeds this share of the total.
constexpr double uniform(PhiloxKey key, uint32_t op, int32_t sentence, int32_t token) {
  return philox({0xFFFFFFFF, uint32_t(token), uint32_t(sentence), op}, key)[0] * 0x1p-32;
}

}  // namespace dragoman
