#pragma once
#include "align/id_pairs.h"

namespace dragoman {

/// t(e | f): how probable each target piece e is as the translation of a source piece f, and of nothing, for all that
/// meet in a sentence pair: 20 bytes for each such two. Counts are integers of 2^-32, whose sums are exact: they may be
/// added up by any threads in any order, and the same text gives the same table to the bit.
class TranslationTable {
 public:
  struct Entries {
    std::span<const int32_t> targets;  // rising
    std::span<const double> probabilities;
  };
  static constexpr int64_t none = -1;

  /// At first, everything that the text has is equally probable.
  TranslationTable(const IdPairs& pairs, int32_t source_vocabulary);

  int32_t nothing() const {
    return int32_t(begins_.size()) - 2;
  }  // stands as a source piece for a target's lack of one
  Entries of(int32_t source) const;
  int64_t find(int32_t source, int32_t target) const;  // an entry; `none` where the two never met
  double probability(int64_t entry) const { return probabilities_[entry]; }

  /// Adds to what is expected of an entry; from any thread.
  void count(int64_t entry, double share);
  /// Probabilities from the counts, which begin anew. With alpha above 0 the mean of variational Bayes under a
  /// symmetric Dirichlet prior, exp(ψ(c + α) − ψ(Σ (c + α))), which leaves rare pieces little; with 0 the likeliest.
  void estimate(double alpha);

 private:
  std::vector<int64_t> begins_;  // of each source piece's entries
  std::vector<int32_t> targets_;
  std::vector<double> probabilities_;
  std::vector<uint64_t> counts_;
};

/// The logarithmic derivative of the gamma function, for x > 0.
double digamma(double x);

}  // namespace dragoman
