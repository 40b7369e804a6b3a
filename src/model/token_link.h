#pragma once
#include <compare>
#include <cstdint>

namespace dragoman {

/// A pair of tokens that are translations of each other, counted from 0.
struct TokenLink {
  int64_t source, target;
  auto operator<=>(const TokenLink&) const = default;
};

}  // namespace dragoman
