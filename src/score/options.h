#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "align/alignment_style.h"
#include "base/enum_names.h"

namespace dragoman {

/// How pairs are scored.
struct ScoreOptions {
  bool no_spm_encode = false;                      // the text is already split into pieces
  int64_t mini_batch_words = 4096;                 // target tokens
  int max_length = 10'000;                         // pieces per side; longer ones are an Error
  bool alignments = false;                         // also compute the alignments
  std::vector<std::string> vocabs = {};            // of another program's model, if no file beside it names them
  std::string source_lang = {}, target_lang = {};  // of a multilingual model
};

/// Summary of all pairs as one number, or none. cross_entropy and ce_mean, which are Marian's names for the same: the
/// negative log-probability per pair; ce_mean_words: per target token; perplexity: the exponential of that.
enum class Summary { none, cross_entropy, ce_mean, ce_mean_words, perplexity };

inline std::span<const EnumName<Summary>> enum_names(Summary) {
  static constexpr EnumName<Summary> names[] = {{Summary::none, "none"},
                                                {Summary::cross_entropy, "cross-entropy"},
                                                {Summary::ce_mean, "ce-mean"},
                                                {Summary::ce_mean_words, "ce-mean-words"},
                                                {Summary::perplexity, "perplexity"}};
  return names;
}

/// Which pairs of a file are scored, and what is written of each.
struct ScoreFileOptions : ScoreOptions {
  std::vector<std::string> train_sets;   // {source, target}, as Marian calls them; with n_best {source, list}
  bool tsv = false;                      // train_sets is one file, of lines SOURCE tab TARGET
  bool n_best = false;                   // the target is an n-best list, to which a feature is added …
  std::string n_best_feature = "Score";  // … of this name
  bool word_scores = false;              // also log-probabilities of the tokens
  AlignmentStyle alignment;              // source positions attended to by each target position
  Summary summary = Summary::none;       // printed instead of one line per pair
  bool normalize = false;                // divide each log-probability by the target's length
  int64_t maxi_batch_lines = 10000;      // lines read ahead and sorted by length
};

}  // namespace dragoman
