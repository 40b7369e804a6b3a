#pragma once
#include <cmath>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "io/load_model.h"

namespace dragoman {

/// What another program says of a pair; source and target end with </s>.
struct ReferenceScore {
  std::vector<int32_t> source, target;
  double score;  // log-probability of the target
};

inline std::vector<int32_t> numbers(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<int32_t>(in), {}};
}

/// Reads lines of source ids, target ids and a score, separated by tabs.
inline std::vector<ReferenceScore> reference_scores(const std::string& lines) {
  std::istringstream text(lines);
  std::vector<ReferenceScore> pairs;
  for (std::string source, target, score;
       std::getline(text, source, '\t') && std::getline(text, target, '\t') && std::getline(text, score);)
    pairs.push_back({numbers(source), numbers(target), std::stod(score)});
  return pairs;
}

/// The largest difference of a model's scores to these, per target token; the first tokens of a target may be `given`.
inline double score_difference(const ModelFile& file, const std::vector<ReferenceScore>& pairs, size_t given = 0) {
  Arena arena;
  const LoadedModel loaded = load_model(file, backend("cpu"), arena);
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &loaded.packed};
  double most = 0;
  for (const ReferenceScore& p : pairs) {
    const Batch batch{{p.source, Spans::of_lengths({int32_t(p.source.size())})},
                      {p.target, Spans::of_lengths({int32_t(p.target.size())})},
                      {0}};
    const Tensor log_prob = loaded.model->loss(cx, batch, 0).log_prob;
    double sum = 0;
    for (size_t t = given; t < p.target.size(); ++t) sum += log_prob.as<float>()[t];
    most = std::max(most, std::abs(sum - p.score) / double(p.target.size()));
  }
  return most;
}

}  // namespace dragoman
