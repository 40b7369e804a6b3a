#pragma once
#include <string>
#include <vector>

#include "io/model_file.h"
#include "score/scorer.h"
#include "train/setup.h"

namespace dragoman {

/// Measures a model on the validation set: cross-entropy a label and perplexity by scoring, BLEU and chrF by
/// translating it with beam search, as `translate` would.
class Validation {
 public:
  /// Reads the set; without --valid-sets there is none and nothing is ever measured.
  Validation(const TrainingSetup& setup, const Vocabularies& vocabularies);

  bool exists() const { return !pairs_.empty(); }
  /// One value for each of --valid-metrics, in order.
  std::vector<double> measure(const Backend& backend, Arena& arena, Model& model) const;

 private:
  std::vector<std::string> translations(const Backend& backend, Arena& arena, Model& model,
                                        const PackedWeights& packed) const;

  const TrainingSetup& setup_;
  const Vocabularies& vocabularies_;
  std::vector<std::string> sources_, references_;
  std::vector<IdPair> pairs_;
  int64_t labels_ = 0;
};

/// Whether more of the metric is better.
bool rises(ValidMetric metric);

}  // namespace dragoman
