#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "metrics/bleu.h"
#include "metrics/evalb.h"
#include "metrics/significance.h"

namespace dragoman {

/// What `evaluate` found for one system.
struct Figure {
  std::string name, title;  // in JSON and in tables
  double score = 0;
  std::optional<Interval> interval;
  std::optional<double> p_value;  // of the difference to the first system
  std::optional<Bleu> bleu;       // what it is made of
  std::optional<Evalb> evalb;
};

struct SystemFigures {
  std::string system;           // the file's name
  std::vector<Figure> figures;  // the same ones for each system
};

/// Those that were asked for, each once, in one order whatever that of the request.
std::vector<CorpusMetric> metrics_of(const EvaluateOptions& options);

/// The options but for what does not concern the figures' meaning; see evaluate_command.
Resampling bootstrap_of(const EvaluateOptions& options);
Resampling randomization_of(const EvaluateOptions& options);

/// A table for people: figures, then how sure they are, then signatures to quote with them.
std::string figures_page(const EvaluateOptions& options, const std::vector<SystemFigures>& systems);

/// The same as one JSON object; with several systems they stand in an array "systems".
std::string figures_json(const EvaluateOptions& options, const std::vector<SystemFigures>& systems);

}  // namespace dragoman
