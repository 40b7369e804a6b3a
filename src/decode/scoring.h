#pragma once
#include "decode/options.h"

namespace dragoman {

/// What a hypothesis is worth: (log p - word_penalty · length) / normaliser(length), the normaliser being
/// length^normalize (Marian) or ((5 + length) / 6)^length_penalty (Wu et al. 2016, eq. 14). `length` counts the pieces
/// that were predicted, </s> included, so it is at least 1.
double score(const SearchOptions& options, double log_prob, int length);

/// The most that can become of an unfinished hypothesis of `length` pieces when it may grow to `limit`: its
/// probability only falls.
double score_bound(const SearchOptions& options, double log_prob, int length, int limit);

/// How many pieces a translation may have, given those of its source (both without </s>); at least 1.
int length_limit(const SearchOptions& options, int source);

/// How many it must have, at most `limit` of them.
int least_length(const SearchOptions& options, int source, int limit);

}  // namespace dragoman
