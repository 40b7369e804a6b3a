#pragma once
#include "dragoman/search_options.h"

namespace dragoman {

/// Score of a hypothesis: (log p - word_penalty · length) / normaliser(length), where the normaliser is
/// length^normalize (Marian) or ((5 + length) / 6)^length_penalty (Wu et al. 2016, eq. 14). `length` counts the
/// predicted tokens, </s> included, so it is at least 1.
double score(const SearchOptions& options, double log_prob, int length);

/// Upper bound on the score of an unfinished hypothesis of `length` tokens that may grow to `limit`: its probability
/// can only fall.
double score_bound(const SearchOptions& options, double log_prob, int length, int limit);

/// Maximum length of a translation for a source of this many pieces (both without </s>); at least 1.
int length_limit(const SearchOptions& options, int source);

/// Minimum length of a translation, at most `limit`.
int least_length(const SearchOptions& options, int source, int limit);

}  // namespace dragoman
