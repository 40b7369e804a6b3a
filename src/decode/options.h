#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

/// Beam search: what a hypothesis scores and when it ends.
struct SearchOptions {
  int beam_size = 5;
  double normalize = 1;          // divide log-probabilities by length^normalize (Marian); 0: plain sums
  double length_penalty = 0;     // divide by ((5 + length) / 6)^length_penalty (Wu et al. 2016) instead; 0: off
  double word_penalty = 0;       // subtracted for every target piece
  int max_length_add = 50;       // a translation has at most source + 50 pieces (Vaswani et al. 2017, section 6.1) …
  double max_length_factor = 0;  // … or, when this is above 0, at most this many times the pieces of the source
  bool allow_unk = false;        // let the unknown piece be part of a translation
  int n_best = 0;                // hypotheses to give for a line; 0: the best one, as plain text
};

/// What `translate` does with its lines besides searching.
struct TranslateOptions {
  std::vector<std::string> models;
  std::string input = "-";           // "-": stdin
  std::string output = "-";          // "-": stdout
  int64_t mini_batch_words = 2048;   // source pieces × beam that are in the machine at once
  int64_t maxi_batch_lines = 10000;  // lines held at once: waiting, in the machine, or done before an earlier one
  int max_length = 1000;             // pieces; longer lines are translated in parts
  bool no_spm_encode = false;        // the input is already pieces, split at blanks
  bool scores = false;               // a log-probability before each translation
  int cpu_threads = 0;               // 0: one a core
  bool quiet = false;
};

}  // namespace dragoman
