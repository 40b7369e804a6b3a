#pragma once
#include "align/parallel_ids.h"

namespace dragoman {

/// t(e | f): the probability that source piece f, or the null word, is translated by target piece e, for all
/// combinations that occur in a sentence pair; 20 bytes per combination. Counts are integers in units of 2^-32, so
/// their sums are exact: threads may add in any order, and the same text gives the same table, bit for bit.
class TranslationTable {
 public:
  struct Entries {
    std::span<const int32_t> targets;  // ascending
    std::span<const double> probabilities;
  };
  static constexpr int64_t none = -1;

  /// Initially, all translations that occur in the text are equally probable.
  TranslationTable(const ParallelIds& pairs, int32_t source_vocabulary);

  int32_t nothing() const {
    return int32_t(begins_.size()) - 2;
  }  // the null word: the source of target pieces that have none
  Entries of(int32_t source) const;
  int64_t find(int32_t source, int32_t target) const;  // an entry; `none` if they never occur together
  double probability(int64_t entry) const { return probabilities_[entry]; }

  /// Adds to the expected count of an entry; thread-safe.
  void count(int64_t entry, double share);
  /// Computes probabilities from the counts and resets the counts. With alpha above 0, variational Bayes under a
  /// symmetric Dirichlet prior, exp(ψ(c + α) − ψ(Σ (c + α))), which lowers the probability of rare translations; with
  /// 0, maximum likelihood.
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
