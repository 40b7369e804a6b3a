#pragma once
#include <array>
#include <exception>
#include <string>
#include <vector>

#include "data/unknown_tokens.h"
#include "io/load_model.h"
#include "score/options.h"
#include "score/scorer.h"

namespace dragoman {

/// The scores of a pair.
struct PairScore {
  std::vector<float> log_probs;  // of each target token, </s> included
  Alignment alignment;           // if requested

  double log_prob() const { return log_prob_of(log_probs); }
};

/// The scores of pairs in order; of lines of a file, up to the first one that has an error.
struct PairScores {
  std::vector<PairScore> pairs;
  std::exception_ptr error;              // null: none has one
  std::array<UnknownTokens, 2> unknown;  // of all pairs that were read, {source, target}

  /// The scores of all pairs. Throws the error if there is one.
  std::vector<PairScore> all() &&;
};

/// The file of lines and the model, for messages; no file for a list of pairs. `lines_before`: number of its lines or
/// pairs before these.
struct LinesOrigin {
  std::string target;
  int64_t lines_before = 0;
  std::string model = "the model";
};

/// The scores of pairs of lines, in order; each depends only on its pair, bit for bit. The tokens that the model's
/// target frame forces are not scored. Uses all options but those of the model. A pair has an error if it is too long,
/// or if the model gives NaN for it.
PairScores score_lines(const ScoringContext& context, Model& model, const Vocabularies& vocabularies,
                       const LinePairs& lines, const ScoreOptions& options, const LinesOrigin& origin);

/// Sums over the scores of many pairs.
struct ScoreTotals {
  int64_t pairs = 0, pieces = 0;  // target tokens, ends of sentences included
  double log_prob = 0;

  void add(double log_prob_of_pair, int64_t its_pieces);
  double figure(Summary summary) const;  // requires at least one pair
};

/// A model that scores pairs of lines. For one thread at a time.
class PairScorer {
 public:
  /// Throws Error for a file that is not a model, and if alignments are requested of a model without cross-attention.
  PairScorer(const std::string& model, const ScoreOptions& options, const Backend& device);
  PairScorer(const PairScorer&) = delete;

  /// As score_lines.
  PairScores score(const LinePairs& lines, const LinesOrigin& origin);

  /// These texts, for warnings.
  std::array<EncodedSide, 2> encoded_sides(const std::array<std::string, 2>& texts) const;

  std::string checksum() const { return loaded_.checksum; }  // of the model

 private:
  const std::string model_;
  const ScoreOptions options_;
  const Backend& device_;
  Arena arena_;
  const LoadedModel loaded_;
};

}  // namespace dragoman
