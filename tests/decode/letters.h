#pragma once
#include <cstdint>

namespace dragoman {

/// Ids of the pieces that are the words a, b and c in tests of the search.
constexpr int32_t a = 3, b = 4, c = 5;

}  // namespace dragoman
