#include "decode/scoring.h"

#include <algorithm>
#include <cmath>

namespace dragoman {
namespace {

// Increases with the length, or is 1.
double normaliser(const SearchOptions& options, int length) {
  if (options.length_penalty > 0) return std::pow((5.0 + length) / 6.0, options.length_penalty);
  return options.normalize > 0 ? std::pow(length, options.normalize) : 1;
}

}  // namespace

double score(const SearchOptions& options, double log_prob, int length) {
  return (log_prob - options.word_penalty * length) / normaliser(options, length);
}

// Numerator and normaliser are each evaluated at the length, from the next token to the limit, that is best for the
// score.
double score_bound(const SearchOptions& options, double log_prob, int length, int limit) {
  const int next = std::min(length + 1, limit);
  const double most = log_prob - options.word_penalty * (options.word_penalty > 0 ? next : limit);
  return most / normaliser(options, most < 0 ? limit : next);
}

int length_limit(const SearchOptions& options, int source) {
  if (options.max_length_factor > 0) return std::max(1, int(std::ceil(options.max_length_factor * source)));
  return std::max(1, source + options.max_length_add);
}

int least_length(const SearchOptions& options, int source, int limit) {
  const double least = std::max<double>(options.min_length, std::ceil(options.min_length_factor * source));
  return int(std::min<double>(least, limit));
}

}  // namespace dragoman
