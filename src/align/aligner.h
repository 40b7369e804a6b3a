#pragma once
#include <map>

#include "align/options.h"
#include "align/translation_table.h"

namespace dragoman {

/// Which source piece each target piece comes from: IBM model 2 with the probability of a link falling with its
/// distance from the diagonal (Dyer, Chahuneau and Smith 2013, "A Simple, Fast, and Effective Reparameterization of IBM
/// Model 2"):  p(e_i, j) = p₀ · t(e_i | nothing) for none, else (1 − p₀) · exp(−λ |i/m − j/n|) / Z · t(e_i | f_j).
/// Trained by expectation maximisation. Costs a search in the table for each two pieces of a pair and iteration. The
/// same text gives the same numbers, whatever the number of threads.
class Aligner {
 public:
  struct Link {
    int source, target;  // positions in their sentences, from 0
    bool operator==(const Link&) const = default;
  };

  /// The pairs outlive the aligner. One with an empty side teaches nothing.
  Aligner(const IdPairs& pairs, int32_t source_vocabulary, const AlignerOptions& options);

  /// Looks at all pairs once and learns from them. Returns the perplexity of a target piece before that.
  double iterate();

  /// The likeliest link of each target piece that has one, in their order.
  std::vector<Link> align(std::span<const int32_t> source, std::span<const int32_t> target) const;

  const TranslationTable& table() const { return table_; }
  double tension() const { return tension_; }

 private:
  struct Sums;
  /// Where a target piece may come from: its entry of the table and p(e_i, j).
  struct Origin {
    int64_t entry;
    double weight;
  };

  double weigh(std::span<Origin> origins, std::span<const int32_t> source, std::span<const int32_t> target,
               int i) const;
  void expect(int64_t pair, std::vector<Origin>& origins, Sums& sums);
  void learn_tension(double feature);
  double expected_feature() const;

  const IdPairs& pairs_;
  const AlignerOptions options_;
  TranslationTable table_;
  double tension_;
  std::map<std::pair<int, int>, int64_t> sizes_;  // how many pairs have so many source and target pieces
  int iterations_ = 0;                            // done
};

}  // namespace dragoman
