#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace dragoman {

/// The pieces that must not follow so that no n pieces in a row come twice; n > 0. Some may be named more than once.
std::vector<int32_t> repeating_pieces(std::span<const int32_t> pieces, int n);

}  // namespace dragoman
