#pragma once
#include <cstdint>

#include "dragoman/search_rule.h"

namespace dragoman {

/// Type of the operands of products when decoding; automatic: according to the type stored in the file.
enum class Precision { automatic, float32, bfloat16, float16, int8 };

/// How the predictions of several models are joined: geometric: a weighted sum of their log-probabilities; arithmetic:
/// the weighted mean of their probabilities, as in fairseq. automatic: as in the program that the models come from.
enum class EnsembleMean { automatic, geometric, arithmetic };

/// How tokens are sampled instead of searched for: from all pieces, from the most probable, or from the fewest that
/// together have a given probability (Holtzman et al. 2020).
enum class Sampling { none, full, topk, nucleus };

/// How hypotheses are generated, scored and ended.
struct SearchOptions {
  int beam_size = 5;  // without effect on sampling, which draws as many translations as n_best says
  SearchRule rule = SearchRule::automatic;
  double normalize = 1;          // divide log-probabilities by length^normalize (Marian); 0: plain sums
  double length_penalty = 0;     // divide by ((5 + length) / 6)^length_penalty (Wu et al. 2016) instead; 0: off
  double word_penalty = 0;       // subtracted for each target token
  int max_length_add = 50;       // a translation has at most source + 50 pieces (Vaswani et al. 2017, section 6.1) …
  double max_length_factor = 0;  // … or, if above 0, at most this many times the pieces of the source
  int min_length = 0;            // a translation has at least this many pieces …
  double min_length_factor = 0;  // … and this many times those of the source, within the maximum
  int no_repeat_ngram = 0;       // forbid repeated n-grams of this length; 0: allow all
  bool allow_unk = false;        // allow the unknown piece in translations
  int n_best = 0;                // hypotheses written per line; 0: the best one, as plain text
  Sampling sampling = Sampling::none;
  int sampling_pieces = 10;    // Sampling::topk draws from this many most probable pieces
  double sampling_mass = 0.9;  // Sampling::nucleus draws from the fewest pieces of this total probability
  double temperature = 1;      // divides logits before a draw
  uint64_t seed = 1;           // of draws, together with the line's number, from 0
};

}  // namespace dragoman
