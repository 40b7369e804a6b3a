#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "align/alignment.h"

namespace dragoman {

/// How tokens are sampled instead of searched for: from all pieces, from the most probable, or from the fewest that
/// together have a given probability (Holtzman et al. 2020).
enum class Sampling { none, full, topk, nucleus };

/// How hypotheses are generated, scored and ended.
struct SearchOptions {
  int beam_size = 5;             // with sampling: translations drawn per line
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
  uint64_t seed = 1;           // of draws, together with the line number
};

/// Throws Error for options that no search can have, or that contradict each other; they are named as on the command
/// line.
void validate(const SearchOptions& options);

/// Options of `translate` that do not concern the search.
struct TranslateOptions {
  std::vector<std::string> models;
  std::vector<double> weights;       // of the models' log-probabilities; empty: take their mean
  std::string input = "-";           // "-": stdin
  std::string output = "-";          // "-": stdout
  int64_t mini_batch_words = 640;    // source tokens in flight
  int64_t maxi_batch_lines = 10000;  // lines held at once: queued, in flight, or done before an earlier one
  int max_length = 1000;             // pieces; longer lines are translated in segments
  bool no_spm_encode = false;        // the input already consists of pieces separated by spaces
  bool force_decode = false;         // text after a tab is the forced beginning of the translation
  bool scores = false;               // write a log-probability before each translation
  bool word_scores = false;          // write log-probabilities of the tokens after each translation
  AlignmentStyle alignment;          // write which source tokens each target token aligns with, after each translation
  std::vector<std::string> devices = {"cpu"};  // exactly one: "cpu" or "cuda:0"
  bool fast_math = false;                      // on a GPU: compute float32 products in TF32
  int cpu_threads = 0;                         // 0: one per core
  bool quiet = false;
};

}  // namespace dragoman
