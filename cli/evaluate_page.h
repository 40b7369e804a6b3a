#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/evaluate_options.h"
#include "metrics/bleu.h"
#include "metrics/evalb.h"
#include "metrics/significance.h"

namespace dragoman {

/// A metric of one system.
struct Figure {
  std::string name, title;  // in JSON and in tables
  double score = 0;
  std::optional<Interval> interval;
  std::optional<double> p_value;  // of the difference from the first system
  std::optional<Bleu> bleu;       // its components
  std::optional<Evalb> evalb;
};

struct SystemFigures {
  std::string system;           // the file's name
  std::vector<Figure> figures;  // the same metrics for every system
};

/// The requested metrics, without repetition, in a fixed order.
std::vector<CorpusMetric> metrics_of(const EvaluateCommandOptions& options);

/// Samples and seed of each significance test.
Resampling bootstrap_of(const EvaluateCommandOptions& options);
Resampling randomization_of(const EvaluateCommandOptions& options);

/// A table of scores, then significance, then the signatures to quote with them.
std::string figures_page(const EvaluateCommandOptions& options, const std::vector<SystemFigures>& systems);

/// The same as one JSON object; several systems form an array "systems".
std::string figures_json(const EvaluateCommandOptions& options, const std::vector<SystemFigures>& systems);

}  // namespace dragoman
