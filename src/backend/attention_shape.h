#pragma once
#include <algorithm>
#include <cmath>

#include "backend/dropout.h"
#include "tensor/spans.h"

namespace dragoman {

/// Which keys a query may attend to. Query i and key j are counted from the start of their sentence; the first query
/// has number `first`. With `window`, only |i - j| ≤ window; with `causal`, only j ≤ i or, for keys that are `stride`
/// positions apart, j · stride ≤ i.
struct Visibility {
  bool causal = false;
  int window = -1;  // -1: no limit
  int64_t first = 0;
  int stride = 1;  // other than 1: only if causal

  static Visibility all() { return {}; }
  static Visibility past() { return {.causal = true}; }
  /// The range of the `count` keys that query i sees; empty if it sees none.
  constexpr Range keys(int64_t i, int64_t count) const {
    i += first;
    Range seen{0, count};
    if (causal) seen.end = std::min(seen.end, (stride == 1 ? i : i / stride) + 1);  // a GPU divides slowly
    if (window >= 0) seen = {std::max(seen.begin, i - window), std::min(seen.end, i + window + 1)};
    return {std::min(seen.begin, seen.end), seen.end};
  }
  /// The range of the `count` queries that see key j; empty if none.
  constexpr Range queries(int64_t j, int64_t count) const {
    Range seeing{0, count};
    if (causal) seeing.begin = std::max(seeing.begin, j * stride - first);
    if (window >= 0)
      seeing = {std::max(seeing.begin, j - window - first), std::min(seeing.end, j + window + 1 - first)};
    return {std::min(seeing.begin, seeing.end), seeing.end};
  }
};

/// The score of a query and a key: q·k / √K (Vaswani et al. 2017), q·k (Luong et al. 2015, "dot"), or w · tanh(q + k)
/// with a learned vector w per head (Bahdanau et al. 2015).
enum class Score { scaled_dot, dot, additive };

inline double score_scale(Score score, int64_t key_size) {
  return score == Score::scaled_dot ? 1 / std::sqrt(double(key_size)) : 1;
}

/// Row i of `bias` (Nq or 1, H·(2R+1)) is for query i, a single row for all queries. Its element for a head and a
/// distance j - i, clipped to ±R, is added to the head's product of q and k before the division by √K (Shaw et al.
/// 2018, equation 5).
struct DistanceBias {
  static int64_t reach(const Tensor& bias, int heads) { return (bias.cols() / heads - 1) / 2; }
  static int64_t column(const Tensor& bias, int heads, int head, int64_t distance) {
    const int64_t R = reach(bias, heads);
    return head * (2 * R + 1) + std::clamp(distance, -R, R) + R;
  }
  static int64_t row(const Tensor& bias, int64_t query) { return bias.rows() == 1 ? 0 : query; }
};

/// Pairs query rows with key rows: sentence s of `queries` sees sentence s of `keys`.
struct AttentionShape {
  Spans queries, keys;
  int heads = 1;  // H
  Visibility visible;
  Score score = Score::scaled_dot;
  Dropout dropout;  // of the attention weights; stream = op · 4096 + head, token = query, column = key

  /// Number of query-key pairs in the sentences before `sentence`.
  int64_t pairs_before(int sentence) const {
    int64_t pairs = 0;
    for (int s = 0; s < sentence; ++s) pairs += (queries[s].end - queries[s].begin) * (keys[s].end - keys[s].begin);
    return pairs;
  }
};

}  // namespace dragoman
