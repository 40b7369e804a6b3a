#include "explain/rollout.h"

namespace dragoman {
namespace {

// The composition of vectors: a row per vector, a column per input.
struct Known {
  int64_t rows = 0, inputs = 0;
  std::vector<double> shares;  // (rows,inputs)

  double& at(int64_t row, int64_t input) { return shares[size_t(row * inputs + input)]; }
  double at(int64_t row, int64_t input) const { return shares[size_t(row * inputs + input)]; }
};

Known nothing(int64_t rows, int64_t inputs) { return {rows, inputs, std::vector<double>(size_t(rows * inputs))}; }

Known themselves(int64_t n) {
  Known known = nothing(n, n);
  for (int64_t i = 0; i < n; ++i) known.at(i, i) = 1;
  return known;
}

// known ← (known + A · seen) / (1 + Σ_j A_ij); `seen` may be the old `known`. If the attention sees none of these
// inputs (`seen` is null), `known` is only divided.
Known mixed(const Known& known, const AttentionMap& map, const HeadMap& mean, const Known* seen) {
  Known mix = known;
  for (int64_t i = 0; i < map.queries; ++i) {
    const float* weights = mean.weights.data() + i * map.keys;
    double sum = 1;
    for (int64_t j = 0; j < map.keys; ++j) {
      sum += weights[j];
      for (int64_t c = 0; seen && c < known.inputs; ++c) mix.at(i, c) += weights[j] * seen->at(j, c);
    }
    for (int64_t c = 0; c < known.inputs; ++c) mix.at(i, c) /= sum;
  }
  return mix;
}

AttentionMap shown(const AttentionMap& of, const Known& known) {
  AttentionMap map{of.name, of.site, of.layer, known.rows, known.inputs, {}};
  map.heads.push_back({HeadMap::mean, {known.shares.begin(), known.shares.end()}});
  return map;
}

}  // namespace

std::vector<AttentionMap> rollout(const std::vector<AttentionMap>& maps) {
  std::vector<AttentionMap> rolled;
  Known memory, read, source;  // of encoder vectors; of decoder vectors
  for (const AttentionMap& map : maps) {
    const HeadMap mean = mean_of(map);
    if (map.site == AttentionSite::encoder_self) {
      if (memory.rows == 0) memory = themselves(map.keys);
      memory = mixed(memory, map, mean, &memory);
      rolled.push_back(shown(map, memory));
    } else if (map.site == AttentionSite::decoder_self) {
      if (read.rows == 0) read = themselves(map.queries), source = nothing(map.queries, memory.rows);
      read = mixed(read, map, mean, &read);
      source = mixed(source, map, mean, &source);
      rolled.push_back(shown(map, read));
    } else {
      source = mixed(source, map, mean, &memory);
      read = mixed(read, map, mean, nullptr);
      rolled.back() = shown(rolled.back(), read);  // its layer is complete only now
      rolled.push_back(shown(map, source));
    }
  }
  return rolled;
}

}  // namespace dragoman
