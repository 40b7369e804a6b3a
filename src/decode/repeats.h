#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace dragoman {

/// The pieces that would complete an n-gram that has already occurred; n > 0. May contain duplicates.
std::vector<int32_t> repeating_pieces(std::span<const int32_t> pieces, int n);

}  // namespace dragoman
