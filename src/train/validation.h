#pragma once
#include <map>
#include <string>
#include <vector>

#include "dragoman/run_event.h"
#include "io/model_file.h"
#include "runlog/unwritten.h"
#include "score/scorer.h"
#include "train/setup.h"
#include "train/valid_script.h"

namespace dragoman {

class Communicator;
struct RunControl;

/// A model, and what it is measured on.
struct MeasuredModel {
  const Backend& backend;
  Arena& arena;
  Model& model;
  int64_t rows;  // the maximum number of tokens per side that are scored at once
};

/// Measures a model on the validation set: cross-entropy per target token and perplexity by scoring, BLEU and chrF by
/// translating it with beam search, as `translate` would, and the value of a script for these translations.
class Validation {
 public:
  /// Reads the set. Without --valid-sets nothing is measured. While a script runs, `control` has its process group.
  Validation(const TrainingSetup& setup, const Vocabularies& vocabularies, RunControl& control);

  bool exists() const { return !pairs_.empty(); }
  /// Of everything that determines the value of a metric, besides the model: text and options.
  std::string fingerprint(ValidMetric metric) const;
  /// One value for each of --valid-metrics, in order; nullopt if the script gave none or, with a warning, if a rank has
  /// too little memory to score or to translate. All ranks call it and share the lines; rank 0 computes the values and
  /// broadcasts them. Writes --valid-translation-output, with the placeholders in its name replaced from `progress`. If
  /// it cannot be written, warns and sets `unwritten`.
  std::vector<std::optional<double>> measure(const MeasuredModel& measured, const Progress& progress,
                                             Unwritten& unwritten, Communicator& ranks) const;

 private:
  std::optional<double> cross_entropy(const MeasuredModel& measured, const PackedWeights& packed,
                                      Communicator& ranks) const;
  std::optional<std::vector<std::string>> translations(const MeasuredModel& measured, const PackedWeights& packed,
                                                       Communicator& ranks) const;
  std::string write_translations(const std::vector<std::string>& translations, const Progress& progress,
                                 Unwritten& unwritten) const;
  std::optional<double> figure_of_script(const std::vector<std::string>& translations, std::string file) const;
  bool wants(std::initializer_list<ValidMetric> metrics) const;

  const TrainingSetup& setup_;
  const Vocabularies& vocabularies_;
  RunControl& control_;
  std::vector<std::string> sources_, references_;  // the lines that are translated
  std::vector<IdPair> pairs_;                      // all lines
  int64_t target_tokens_ = 0;
};

/// Whether a higher value of the metric is better. These are also the metrics that translate.
bool rises(ValidMetric metric);

bool better(ValidMetric metric, double a, double b);

/// Whether a value is better than the best one of its metric, if there is one. A non-finite value never is.
bool beats(ValidMetric metric, double value, const std::map<std::string, double>& best);

ValidMetric metric_of(const RunValidation::Figure& figure);

}  // namespace dragoman
