#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "metrics/bleu.h"
#include "metrics/significance.h"

namespace dragoman {

/// What `evaluate` found for one system by one metric.
struct Figure {
  double score = 0;
  std::optional<Interval> interval;
  std::optional<double> p_value;  // of the difference to the first system
};

struct SystemFigures {
  std::string system;                      // the file's name
  Bleu bleu;                               // what BLEU is made of, where `figures` has it
  std::map<CorpusMetric, Figure> figures;  // those that were asked for
};

/// The options but for what does not concern the figures' meaning; see evaluate_command.
Resampling bootstrap_of(const EvaluateOptions& options);
Resampling randomization_of(const EvaluateOptions& options);

/// A table for people: figures, then how sure they are, then signatures to quote with them.
std::string figures_page(const EvaluateOptions& options, const std::vector<SystemFigures>& systems);

/// The same as one JSON object; with several systems they stand in an array "systems".
std::string figures_json(const EvaluateOptions& options, const std::vector<SystemFigures>& systems);

}  // namespace dragoman
