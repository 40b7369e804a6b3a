#pragma once
#include <algorithm>

#include "backend/dropout.h"
#include "tensor/spans.h"

namespace dragoman {

/// Which keys a query may look at, and what is added to their scores. Query i and key j count from the beginning of
/// their sentence; with `window`, only |i - j| ≤ window; with `causal`, only j ≤ i.
struct Visibility {
  bool causal = false;
  int window = -1;  // -1: no limit
  Tensor bias;      // (H, 2·R+1) or empty: added to head h's score at distance j - i, clipped to ±R; not learned

  static Visibility all() { return {}; }
  static Visibility past() { return {.causal = true}; }
  /// Keys of `count` that query i sees.
  Range keys(int64_t i, int64_t count) const {
    Range seen{0, count};
    if (causal) seen.end = std::min(seen.end, i + 1);
    if (window >= 0) seen = {std::max(seen.begin, i - window), std::min(seen.end, i + window + 1)};
    return {std::min(seen.begin, seen.end), seen.end};
  }
  /// Column of `bias` for query i and key j.
  int64_t bias_column(int64_t i, int64_t j) const {
    const int64_t reach = (bias.cols() - 1) / 2;
    return std::clamp(j - i, -reach, reach) + reach;
  }
};

/// How rows of queries meet rows of keys: sentence s of `queries` sees sentence s of `keys`.
struct AttentionShape {
  Spans queries, keys;
  int heads = 1;  // H
  Visibility visible;
  Dropout dropout;  // of the attention weights; stream = op · 4096 + head, token = query, column = key

  /// Scaled dot-product attention divides scores by √K.
  static double scale(int64_t key_size) { return 1 / std::sqrt(double(key_size)); }
};

}  // namespace dragoman
