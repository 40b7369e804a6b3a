#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "explain/alignment.h"

namespace dragoman {

/// How pieces are drawn instead of searched for: from all, from the most probable, or from the fewest that together
/// have a given probability (Holtzman et al. 2020).
enum class Sampling { none, full, topk, nucleus };

/// Which hypotheses there are, what they score and when they end.
struct SearchOptions {
  int beam_size = 5;             // with sampling: translations that are drawn for a line
  double normalize = 1;          // divide log-probabilities by length^normalize (Marian); 0: plain sums
  double length_penalty = 0;     // divide by ((5 + length) / 6)^length_penalty (Wu et al. 2016) instead; 0: off
  double word_penalty = 0;       // subtracted for every target piece
  int max_length_add = 50;       // a translation has at most source + 50 pieces (Vaswani et al. 2017, section 6.1) …
  double max_length_factor = 0;  // … or, when this is above 0, at most this many times the pieces of the source
  int min_length = 0;            // a translation has at least these pieces …
  double min_length_factor = 0;  // … and this many times those of the source, but never more than it may have
  int no_repeat_ngram = 0;       // no so many pieces in a row come twice; 0: they may
  bool allow_unk = false;        // let the unknown piece be part of a translation
  int n_best = 0;                // hypotheses to give for a line; 0: the best one, as plain text
  Sampling sampling = Sampling::none;
  int sampling_pieces = 10;    // Sampling::topk draws from these most probable
  double sampling_mass = 0.9;  // Sampling::nucleus draws from the fewest of this probability
  double temperature = 1;      // logits are divided by it before a draw
  uint64_t seed = 1;           // of draws, together with the line's number
};

/// What `translate` does with its lines besides searching.
struct TranslateOptions {
  std::vector<std::string> models;
  std::vector<double> weights;       // of the models' log-probabilities; empty: their mean is taken
  std::string input = "-";           // "-": stdin
  std::string output = "-";          // "-": stdout
  int64_t mini_batch_words = 640;    // source pieces that are in the machine at once
  int64_t maxi_batch_lines = 10000;  // lines held at once: waiting, in the machine, or done before an earlier one
  int max_length = 1000;             // pieces; longer lines are translated in parts
  bool no_spm_encode = false;        // the input is already pieces, split at blanks
  bool force_decode = false;         // what follows a tab in a line is how its translation begins
  bool scores = false;               // a log-probability before each translation
  bool word_scores = false;          // log-probabilities of the pieces after each translation
  AlignmentStyle alignment;          // which source pieces each target piece was made from, after each translation
  std::vector<std::string> devices = {"cpu"};  // one: "cpu", "cuda:0"
  bool fast_math = false;                      // of a GPU: products of float32 in TF32
  int cpu_threads = 0;                         // 0: one a core
  bool quiet = false;
};

}  // namespace dragoman
