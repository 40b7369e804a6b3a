#pragma once
#include <map>

#include "align/alignment.h"
#include "align/options.h"
#include "align/translation_table.h"

namespace dragoman {

/// Aligns each target piece to a source piece: IBM model 2, in which the probability of a link falls with its distance
/// from the diagonal (Dyer, Chahuneau and Smith 2013, "A Simple, Fast, and Effective Reparameterization of IBM Model
/// 2"):  p(e_i, j) = p₀ · t(e_i | nothing) for none, else (1 − p₀) · exp(−λ |i/m − j/n|) / Z · t(e_i | f_j). Trained by
/// expectation maximisation. Each iteration costs one table lookup for each combination of a source and a target piece
/// of a pair. Results do not depend on the number of threads.
class Aligner {
 public:
  /// The pairs must outlive the aligner. Pairs with an empty side are ignored.
  Aligner(const ParallelIds& pairs, int32_t source_vocabulary, const AlignerOptions& options);

  /// One iteration of expectation maximisation over all pairs. Returns the perplexity of target pieces before it.
  double iterate();

  /// The most probable link of each target piece that has a link, in order.
  std::vector<TokenLink> align(std::span<const int32_t> source, std::span<const int32_t> target) const;

  const TranslationTable& table() const { return table_; }
  double tension() const { return tension_; }

 private:
  struct Sums;
  /// A possible source of a target piece: its entry in the table and p(e_i, j).
  struct Origin {
    int64_t entry;
    double weight;
  };

  double weigh(std::span<Origin> origins, std::span<const int32_t> source, std::span<const int32_t> target,
               int i) const;
  void expect(int64_t pair, std::vector<Origin>& origins, Sums& sums);
  void learn_tension(double feature);
  double expected_feature() const;

  const ParallelIds& pairs_;
  const AlignerOptions options_;
  TranslationTable table_;
  double tension_;
  std::map<std::pair<int, int>, int64_t> sizes_;  // number of pairs by their numbers of source and target pieces
  int iterations_ = 0;                            // done
};

}  // namespace dragoman
