#pragma once
#include <string>

#include "dragoman/evaluate.h"

namespace dragoman {

/// A table of scores, then significance, then the signatures to quote with them.
std::string figures_page(const EvaluateOptions& options, const Evaluation& evaluation);

/// Of one system, with sentence_level: for each line its scores, separated by tabs.
std::string sentences_page(const Evaluation& evaluation);

/// The figures as one JSON object; several systems form an array "systems".
std::string figures_json(const Evaluation& evaluation);

}  // namespace dragoman
